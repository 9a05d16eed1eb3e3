// The folders of the keeper: made and given to it by the user who started Pilvi, before that user is given up.
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../../config.ts";
import { canSwitchUsers, KEEPER_ACCOUNT } from "../../host/os/accounts.ts";
import { keeperDir } from "../../host/os/layout.ts";
import { TARGET_OBJECT } from "../../keeper/targets/opening.ts";
import { chownTree } from "../../lib/files.ts";
import { guarded } from "../../lib/guarded.ts";
import type { Log } from "../../lib/line-log.ts";

/** Makes the folder of the keeper's own notes, and the folders that are targets. @returns the first. */
export function ensureBackupFolders({ dataDir, backups }: Config, log: Pick<Log, "warn">): string {
  const own = keeperDir(dataDir);
  const notes = join(own, "notes");
  mkdirSync(notes, { recursive: true, mode: 0o700 });
  if (canSwitchUsers() && statSync(own).uid !== KEEPER_ACCOUNT.uid) give(own);
  for (const target of backups.targets) {
    if (target.type === "folder")
      guarded(log, "a folder for backups cannot be made", () => ensureTarget(target.path));
  }
  return notes;
}

/** Only the lowest folder is made: without a disk that is to be mounted, its backups would go to another one. */
function ensureTarget(path: string): void {
  if (!existsSync(dirname(path))) return;
  if (!existsSync(path)) mkdirSync(path, { mode: 0o700 });
  // A folder with files of others is left alone; the keeper then says that it may not use it.
  const isOurs = existsSync(join(path, TARGET_OBJECT)) || readdirSync(path).length === 0;
  if (canSwitchUsers() && isOurs && statSync(path).uid !== KEEPER_ACCOUNT.uid) give(path);
}

/** The folder itself goes last, so that the next start goes on after a kill. */
function give(path: string): void {
  chownTree(path, KEEPER_ACCOUNT);
  chmodSync(path, 0o700);
}
