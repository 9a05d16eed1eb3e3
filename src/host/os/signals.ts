// Signals to processes that may have ended meanwhile.
import { codeOf } from "../../lib/errors.ts";

/** Sends a signal to a process; a process that has ended gets none. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  }
}
