// Where everything is restored from: tried before anything is written.
import type { Config } from "../../config.ts";
import { STORE_ID } from "../../contracts/store-id.ts";
import { Sealer } from "../../keeper/envelope.ts";
import { archivePrefix } from "../../keeper/names.ts";
import { MissingObject, WrongKey } from "../../keeper/object-store.ts";
import { openTarget, TARGET_OBJECT } from "../../keeper/targets/opening.ts";
import type { Target } from "../../keeper/targets/target.ts";
import { parseBackupTargets, type BackupTarget } from "../../lib/backup-targets.ts";
import { messageOf, Refusal } from "../../lib/errors.ts";
import type { Vault } from "../../lib/secrets.ts";
import { backupKey, openBackupTarget } from "../bootstrap/backup-targets.ts";

/** @throws Refusal when the text names no single target, or the target has no backups that this key can read. */
export async function checkSource(from: string, config: Config, vault: Vault): Promise<void> {
  const target = openBackupTarget(parseSource(from), config);
  await tried(
    target,
    async () => {
      await target.read(TARGET_OBJECT);
      await openTarget(target, new Sealer(backupKey(vault)), true);
      const stored = await target.list(`${archivePrefix(STORE_ID)}backups/`);
      if (!stored.some(({ name }) => name.endsWith("/backup.json")))
        throw new Refusal(
          `${target.name} has no backup of Pilvi's own store, so nothing says what its backups are of.`,
        );
    },
    config,
  );
}

function parseSource(from: string): BackupTarget {
  const targets = parseBackupTargets(from);
  const [target] = typeof targets === "string" ? [] : targets;
  if (target !== undefined && targets.length === 1) return target;
  throw new Refusal(`${from} must be an absolute path, or an address such as s3://bucket/prefix.`);
}

async function tried(target: Target, work: () => Promise<void>, { keyFile }: Config): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if (error instanceof MissingObject)
      throw new Refusal(`There are no backups of a Pilvi at ${target.name}.`, error);
    if (error instanceof WrongKey)
      throw new Refusal(
        `The backups at ${target.name} were made with another key than that in ${keyFile}. Put the key file of the lost machine there.`,
        error,
      );
    throw new Refusal(messageOf(error), error);
  }
}
