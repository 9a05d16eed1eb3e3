// How an event looks: a line for people, or a line for programs.
import { printable } from "../printable.ts";
import { meaningOf, type Frame } from "./frames.ts";

/** The names that client libraries use for the protocol's own events. */
export function eventName({ event }: Frame): string {
  return event.replace(/^pusher_internal:/, "pusher:");
}

/** Time, event and data in one line. */
export function lineOf(frame: Frame, now: Date): string {
  const { data, userId } = frame;
  const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  const sender = userId === undefined ? "" : `(from ${userId})`;
  return visibleLine([timeOf(now), eventName(frame), text, sender].filter((part) => part !== ""));
}

/** The time of day, with milliseconds. */
export function timeOf(now: Date): string {
  return `${now.toTimeString().slice(0, 8)}.${String(now.getMilliseconds()).padStart(3, "0")}`;
}

/** The parts in one line that cannot write anything else to the terminal. */
export function visibleLine(parts: readonly string[]): string {
  const line = parts
    .join("  ")
    .replaceAll("\n", String.raw`\n`)
    .replaceAll("\t", String.raw`\u0009`);
  return `${printable(line)}\n`;
}

/** The same event as an object in one line. */
export function jsonLineOf(frame: Frame, now: Date): string {
  const { channel, userId } = frame;
  const event = { time: now.toISOString(), channel, event: eventName(frame), data: meaningOf(frame) };
  return `${JSON.stringify({ ...event, user_id: userId })}\n`;
}
