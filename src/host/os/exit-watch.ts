// Notices the end of a process that is not a child of the host: an engine that an earlier host started.
import { pidfdOpen, readableDescriptors } from "../../lib/libc.ts";
import { closeSync } from "node:fs";

/** Bun cannot wait for such a descriptor, so all are polled together at this interval. */
const CHECK_INTERVAL_MS = 20;

const waiting = new Map<number, () => void>();
/** Processes for which this process had no descriptor left; each check tries again. */
const unwatched: { pid: number; resolve(): void }[] = [];
let timer: ReturnType<typeof setInterval> | undefined;

/**
 * Resolves when the process has ended; at once when it does not exist. A later process with the same pid is not
 * mistaken for it.
 */
export function exitOf(pid: number): Promise<void> {
  return new Promise((resolve) => watch(pid, resolve));
}

function watch(pid: number, resolve: () => void): void {
  const fd = pidfdOpen(pid);
  if (fd === "gone") return resolve();
  if (fd === "full") unwatched.push({ pid, resolve });
  else waiting.set(fd, resolve);
  timer ??= setInterval(check, CHECK_INTERVAL_MS);
}

function check(): void {
  for (const { pid, resolve } of unwatched.splice(0)) watch(pid, resolve);
  for (const fd of readableDescriptors([...waiting.keys()])) {
    waiting.get(fd)?.();
    waiting.delete(fd);
    closeSync(fd);
  }
  if (waiting.size + unwatched.length > 0) return;
  clearInterval(timer);
  timer = undefined;
}
