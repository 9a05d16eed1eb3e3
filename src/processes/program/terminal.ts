// What a process that runs the others says, and the signals that end it.
import { writeSync } from "node:fs";
import { codeOf } from "../../lib/errors.ts";

/** Aborted by a signal, or by the end of the script that started this process and would have passed signals on. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  // Further signals change nothing: the end is on its way.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop.abort());
  process.on("disconnect", () => stop.abort());
  return stop.signal;
}

export function say(text: string): void {
  write(1, text);
}

export function complain(text: string): void {
  write(2, text);
}

/** The reader of this output may be gone by now, which is no reason to end. */
function write(fd: 1 | 2, text: string): void {
  try {
    writeSync(fd, `${text}\n`);
  } catch (error) {
    if (codeOf(error) !== "EPIPE") throw error;
  }
}
