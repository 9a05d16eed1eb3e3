// The folder of the applications' sources, which the user of the control plane alone can enter.
import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { canSwitchUsers, CONTROL_ACCOUNT } from "../../host/os/accounts.ts";

/** The folder of the bare repositories. */
export function repositoriesDir(dataDir: string): string {
  return join(dataDir, "repositories");
}

/** Makes the folder; needs the rights of the user that started Pilvi. */
export function ensureRepositoriesDir(dataDir: string): void {
  const folder = repositoriesDir(dataDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (canSwitchUsers()) chownSync(folder, CONTROL_ACCOUNT.uid, CONTROL_ACCOUNT.gid);
}
