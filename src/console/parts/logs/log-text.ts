// The text of an entry of a log, as the console shows it.
import { SEQUENCES } from "../terminal-sequences.ts";
import type { LogLine } from "./log-lines.ts";

type Entry = Pick<LogLine, "type" | "message" | "data">;

/** The message, with the class and the trace of an exception, or what a line of JSON has besides; without colours. */
export function logText(entry: Entry): string {
  return wholeText(entry).replaceAll(SEQUENCES, "");
}

function wholeText({ type, message, data }: Entry): string {
  if (data === null || data === undefined) return message;
  if (type === "exception") return exceptionText(message, data);
  if (type === "access") return `${message} ${String(data["duration_ms"] ?? "–")} ms`;
  const { context } = data;
  return context === null || context === undefined ? message : `${message} ${JSON.stringify(context)}`;
}

function exceptionText(message: string, { class: name, trace }: Record<string, unknown>): string {
  // The message of an exception without one is its class.
  const isNamed = typeof name !== "string" || `${message}:`.startsWith(`${name}:`);
  const lines: unknown[] = Array.isArray(trace) ? trace : [];
  return [isNamed ? message : `${name}: ${message}`, ...lines.map(String)].join("\n");
}
