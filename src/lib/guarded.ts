// Runs tasks whose failure must neither end the process nor keep other tasks from running.

/** Any log. */
interface Warnings {
  warn(members: object, message: string): void;
}

/** Runs a task; a failure is logged. @param what constant text for the log. */
export function guarded(log: Warnings, what: string, task: () => void): void {
  try {
    task();
  } catch (error) {
    log.warn({ error }, what);
  }
}

/** Runs a task again and again, also after it has failed. The caller clears the interval. */
export function guardedInterval(
  log: Warnings,
  what: string,
  intervalMs: number,
  task: () => void,
): ReturnType<typeof setInterval> {
  return setInterval(() => guarded(log, what, task), intervalMs);
}
