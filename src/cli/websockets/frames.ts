// What a cluster sends to its clients.

/** One message, such as an event of a channel. */
export interface Frame {
  event: string;
  channel: string | undefined;
  /** As it was published: almost always text, which holds JSON more often than not. */
  data: unknown;
  /** Who sent a client event on a presence channel. */
  userId: string | undefined;
}

/** Reads a message; undefined for what is none. */
export function readFrame(text: string): Frame | undefined {
  const value = parsed(text);
  const { event, channel, data, user_id: userId } = membersOf(value);
  if (typeof event !== "string") return undefined;
  return { event, channel: textOf(channel), data, userId: textOf(userId) };
}

/** The data as it was meant: what its text holds, or the text itself where that is no JSON. */
export function meaningOf({ data }: Frame): unknown {
  return typeof data === "string" ? parsed(data) : data;
}

/** The members of the data; none when it is no object. */
export function dataMembers(frame: Frame): Record<string, unknown> {
  return membersOf(meaningOf(frame));
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
