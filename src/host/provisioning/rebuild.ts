// Data that is to be built anew: a mark beside it, which outlives a killed host.
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeTrees } from "../../lib/tree-removal.ts";
import type { InstanceFolder } from "../os/layout.ts";
import { killHolders } from "../os/locks.ts";

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
 * Deletes data that is to be built anew. The mark goes last, so that the next start goes on after a kill.
 * Processes of the former engine are killed first: a file that one of them writes now would count as data.
 */
export async function emptyForRebuild(folder: Folder): Promise<void> {
  if (!isRebuildDue(folder)) return;
  await killHolders(folder.lock);
  await removeTrees(readdirSync(folder.data).map((name) => join(folder.data, name)));
  rmSync(folder.rebuild);
}
