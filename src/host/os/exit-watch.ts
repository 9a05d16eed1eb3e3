// Tells when a process ends that is not our child: an engine that an earlier host started.
import { pidfdOpen, readableDescriptors } from "../../lib/libc.ts";
import { closeSync } from "node:fs";

/** Bun cannot wait for a descriptor of this kind, so all of them are asked about together, this often. */
const CHECK_INTERVAL_MS = 20;

const waiting = new Map<number, () => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Resolves when the process has ended; at once when there is none. The pid cannot be mistaken for a later one. */
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
