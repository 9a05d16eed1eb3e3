// Frees the shared memory of a killed engine: the kernel keeps it, and the number of segments is limited.
import { lstatSync, readdirSync, unlinkSync } from "node:fs";
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
  const { files, hasFolders } = entriesOf(uid);
  const segments = segmentsOf(uid);
  if (files.length === 0 && !hasFolders && segments.length === 0) return;
  // Another Pilvi on this machine may run a process with the same uid. That process does not end.
  const giveUpAt = performance.now() + END_TIMEOUT_MS;
  while (processesOf(uid).length > 0) {
    if (performance.now() > giveUpAt) return;
    await Bun.sleep(END_RETRY_MS);
  }
  for (const path of files) orNull(() => unlinkSync(path));
  for (const id of segments) removeSharedMemory(id);
  if (hasFolders) await deleteFoldersOf(uid);
}

/** What the user has made. Only the owner of an entry itself counts: a link of another user may lead anywhere. */
function entriesOf(uid: number): { files: Buffer[]; hasFolders: boolean } {
  const names = orNull(() => readdirSync(POSIX_DIR, { encoding: "buffer" })) ?? [];
  const entries = names.flatMap((name) => {
    const path = Buffer.concat([Buffer.from(`${POSIX_DIR}/`), name]);
    const entry = orNull(() => lstatSync(path));
    return entry?.uid === uid ? [{ path, isFolder: entry.isDirectory() }] : [];
  });
  return {
    files: entries.filter(({ isFolder }) => !isFolder).map(({ path }) => path),
    hasFolders: entries.some(({ isFolder }) => isFolder),
  };
}

/**
 * Deletes folders of any depth, in which a name may be no text. What others have put into them stays, which is no fault of
 * the engine that has ended.
 */
async function deleteFoldersOf(uid: number): Promise<void> {
  const find = "/usr/bin/find";
  const own = ["-uid", String(uid)];
  const each = [find, "{}", "-xdev", "-ignore_readdir_race", "-depth", ...own, "-delete"];
  const folders = [find, POSIX_DIR, "-mindepth", "1", "-maxdepth", "1", "-type", "d", ...own];
  const child = Bun.spawn([...folders, "-exec", ...each, ";"], {
    env: {},
    stdio: ["ignore", "ignore", "ignore"],
  });
  await child.exited;
}

function segmentsOf(uid: number): number[] {
  const [head = "", ...lines] = textOf(SYSV_LIST).trim().split("\n");
  const columns = head.trim().split(/\s+/);
  return lines
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter((values) => values[columns.indexOf("uid")] === uid)
    .flatMap((values) => values[columns.indexOf("shmid")] ?? []);
}
