// The targets of backups as the settings name them, and the key that everything there is encrypted with.
import type { Config } from "../../config.ts";
import { FolderTarget } from "../../keeper/targets/folder.ts";
import { LateTarget } from "../../keeper/targets/late-target.ts";
import { S3Target } from "../../keeper/targets/s3.ts";
import type { Target } from "../../keeper/targets/target.ts";
import type { BackupTarget } from "../../lib/backup-targets.ts";
import { Refusal } from "../../lib/errors.ts";
import type { Vault } from "../../lib/secrets.ts";

/** Keys of backups lead neither to each other nor to the key file. */
const KEY_PURPOSE = "pilvi-backups";

export function backupKey(vault: Vault): Uint8Array<ArrayBuffer> {
  return vault.deriveKey(KEY_PURPOSE);
}

/** @throws Refusal for a bucket without access. */
export function openBackupTarget(target: BackupTarget, { backups: { s3 } }: Config): Target {
  if (target.type === "folder") return new FolderTarget(target.path);
  if (s3 === undefined)
    throw new Refusal("A bucket needs PILVI_S3_ACCESS_KEY_ID and PILVI_S3_SECRET_ACCESS_KEY.");
  const { endpoint, region, ...credentials } = s3;
  const access = {
    ...credentials,
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
  };
  return new LateTarget(new S3Target({ bucket: target.bucket, prefix: target.prefix, ...access }));
}
