// Notices the end of a process that is not a child of the host: an engine that an earlier host started.
import { pidfdOpen, readableDescriptors } from "../../lib/libc.ts";
import { closeSync } from "node:fs";

/** Bun cannot wait for such a descriptor, so all are polled together at this interval. */
const CHECK_INTERVAL_MS = 20;

const waiting = new Map<number, () => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/**
 * Resolves when the process has ended; at once when it does not exist. A later process with the same pid is not
 * mistaken for it.
 */
export function exitOf(pid: number): Promise<void> {
  const fd = pidfdOpen(pid);
  if (fd === null) return Promise.resolve();
  return new Promise((resolve) => {
    waiting.set(fd, resolve);
    timer ??= setInterval(check, CHECK_INTERVAL_MS);
  });
}

function check(): void {
  for (const fd of readableDescriptors([...waiting.keys()])) {
    waiting.get(fd)?.();
    waiting.delete(fd);
    closeSync(fd);
  }
  if (waiting.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}
