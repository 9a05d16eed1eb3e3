// Data that is to be built anew: a mark beside it, which outlives a killed host.
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { InstanceFolder } from "../os/layout.ts";

type Folder = Pick<InstanceFolder, "data" | "rebuild">;

/** Has the next start build the data anew. */
export function markRebuild({ rebuild }: Folder): void {
  writeFileSync(rebuild, "");
}

/** Whether the data is to be built anew. */
export function isRebuildDue({ rebuild }: Folder): boolean {
  return existsSync(rebuild);
}

/** Deletes data that is to be built anew. The mark goes last, so that the next start goes on after a kill. */
export function emptyForRebuild(folder: Folder): void {
  if (!isRebuildDue(folder)) return;
  for (const name of readdirSync(folder.data))
    rmSync(join(folder.data, name), { recursive: true, force: true });
  rmSync(folder.rebuild);
}
