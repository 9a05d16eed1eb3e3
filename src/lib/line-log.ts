// Structured logs of programs that must start at once, in the common form: one JSON object a line on stderr. The usual
// library takes longer to load than such a program.
import { writeSync } from "node:fs";

/** A log. Variable values are members of the first argument; the message is constant. */
export interface Log {
  info: Write;
  warn: Write;
  error: Write;
  /** A log that adds these members to every line. */
  child(members: Record<string, unknown>): Log;
}

type Write = (members: Record<string, unknown>, message: string) => void;

const LEVELS = ["debug", "info", "warn", "error"];

/**
 * @param members the members of every line, such as the process that writes.
 * @param level the lowest level that is written: `debug`, `info`, `warn` or `error`.
 */
export function createLineLog(members: Record<string, unknown>, level: string): Log {
  const at = (name: string): Write =>
    LEVELS.indexOf(name) < LEVELS.indexOf(level)
      ? () => undefined
      : (more, msg) => write({ level: name, time: new Date().toISOString(), ...members, ...more, msg });
  return {
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (more) => createLineLog({ ...members, ...more }, level),
  };
}

function write(line: Record<string, unknown>): void {
  try {
    writeSync(2, `${JSON.stringify(line, errorsAsText)}\n`);
  } catch {
    // A full disk or a closed pipe must not end the connections that are served.
  }
}

function errorsAsText(_: string, value: unknown): unknown {
  return value instanceof Error ? { type: value.name, message: value.message, stack: value.stack } : value;
}
