// The messages of a cluster to its clients.

/** A message, such as an event of a channel. */
export interface Frame {
  event: string;
  channel: string | undefined;
  /** The data as published: almost always text, which usually holds JSON. */
  data: unknown;
  /** The sender of a client event on a presence channel. */
  userId: string | undefined;
}

/** Reads a message; undefined for a text that is not a message. */
export function readFrame(text: string): Frame | undefined {
  const value = parsed(text);
  const { event, channel, data, user_id: userId } = membersOf(value);
  if (typeof event !== "string") return undefined;
  return { event, channel: textOf(channel), data, userId: textOf(userId) };
}

/** The value of the data: the JSON in its text, or the text itself where it is not JSON. */
export function meaningOf({ data }: Frame): unknown {
  return typeof data === "string" ? parsed(data) : data;
}

/** The members of the data; empty when the data is not an object. */
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
