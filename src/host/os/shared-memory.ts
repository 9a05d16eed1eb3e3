// Frees the shared memory of a killed engine: the kernel keeps it, and the number of segments is limited.
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { removeSharedMemory } from "../../lib/libc.ts";
import { canSwitchUsers, isInstanceUid } from "./accounts.ts";
import { orNull, ownerOf, textOf } from "./proc-files.ts";
import type { InstanceFolder } from "./layout.ts";
import { processesOf } from "./user-processes.ts";

/** POSIX shared memory appears as files here. */
const POSIX_DIR = "/dev/shm";
const SYSV_LIST = "/proc/sysvipc/shm";

/** A process that has released its lock takes a moment to end. */
const END_TIMEOUT_MS = 1_000;
const END_RETRY_MS = 5;

/** Frees the memory of the ended engine's user. A shared user's memory stays, because it may be another program's. */
export async function freeSharedMemory({ data }: Pick<InstanceFolder, "data">): Promise<void> {
  const uid = canSwitchUsers() ? ownerOf(data) : null;
  if (uid === null || !isInstanceUid(uid)) return;
  const files = namesIn(POSIX_DIR)
    .map((name) => join(POSIX_DIR, name))
    .filter((path) => ownerOf(path) === uid);
  const segments = segmentsOf(uid);
  if (files.length === 0 && segments.length === 0) return;
  // Another Pilvi on this machine may run a process with the same uid. That process does not end.
  const giveUpAt = performance.now() + END_TIMEOUT_MS;
  while (processesOf(uid).length > 0) {
    if (performance.now() > giveUpAt) return;
    await Bun.sleep(END_RETRY_MS);
  }
  for (const path of files) rmSync(path, { force: true });
  for (const id of segments) removeSharedMemory(id);
}

function segmentsOf(uid: number): number[] {
  const [head = "", ...lines] = textOf(SYSV_LIST).trim().split("\n");
  const columns = head.trim().split(/\s+/);
  return lines
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter((values) => values[columns.indexOf("uid")] === uid)
    .flatMap((values) => values[columns.indexOf("shmid")] ?? []);
}

function namesIn(folder: string): string[] {
  return orNull(() => readdirSync(folder)) ?? [];
}
