// Data that is to be built anew: a mark beside it, which outlives a killed host.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { removeTrees } from "../../lib/tree-removal.ts";
import type { InstanceFolder } from "../os/layout.ts";
import { killHolders } from "../os/locks.ts";
import { WORK_DIR } from "./data-directory.ts";

type Folder = Pick<InstanceFolder, "data" | "lock" | "rebuild">;

/** Has the next start build the data anew. */
export function markRebuild({ rebuild }: Folder): void {
  writeFileSync(rebuild, "");
}

/** Whether the data is to be built anew. */
export function isRebuildDue({ rebuild }: Folder): boolean {
  return existsSync(rebuild);
}

/**
 * Deletes data that is to be built anew. The mark goes once the folder is empty, so that the next start goes on after a
 * kill; what was not deleted by then goes with the next build.
 * Processes of the former engine are killed first: a file that one of them writes now would count as data.
 */
export async function emptyForRebuild(folder: Folder): Promise<void> {
  if (!isRebuildDue(folder)) return;
  await killHolders(folder.lock);
  const former = join(dirname(folder.data), `${WORK_DIR}${Bun.randomUUIDv7()}`);
  mkdirSync(former, { mode: 0o700 });
  // Under names of their own: a program that a killed host had started to delete them may still be at it.
  for (const name of readdirSync(folder.data)) renameSync(join(folder.data, name), join(former, name));
  rmSync(folder.rebuild);
  await removeTrees([former]);
}
