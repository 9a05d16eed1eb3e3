// Restores Pilvi's own store, and the files that are sealed in it.
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { STORE_ID } from "../../contracts/store-id.ts";
import type { Driver } from "../../drivers/driver.ts";
import { Refusal } from "../../lib/errors.ts";
import { replaceFile, syncFile } from "../../lib/files.ts";
import type { Vault } from "../../lib/secrets.ts";
import type { Database } from "../../store/database.ts";
import { migrate } from "../../store/migrate.ts";
import { migrations } from "../../store/migrations.ts";
import { machineFilesOf, writeMachineFiles } from "../bootstrap/machine-files.ts";
import { ensureKeyFits } from "../bootstrap/registration.ts";
import { openStore, storeAddress, storeSpec } from "../bootstrap/store-instance.ts";
import { endOf } from "./rows.ts";

/**
 * Has the host restore the store up to the end of its archive, unless its data is there already.
 * @returns the instant of its data.
 * @throws Refusal when it cannot be restored.
 */
export async function restoreStore(driver: Driver, vault: Vault, signal: AbortSignal): Promise<string> {
  const plan = await driver.planRestore(STORE_ID, { latest: true });
  const { backup, recovery } = plan;
  const from = recovery.kind === "time" ? { at: recovery.at } : { backup: backup.id };
  const seen = await driver.ensure({ ...storeSpec(vault), origin: { archive: STORE_ID, ...from } }, signal);
  if (seen.state === "running") return endOf(plan);
  throw new Refusal(`The store cannot be restored: ${seen.lastError ?? "the host gives no reason"}`);
}

/** Opens the restored store, brought to this release. @throws Refusal when it belongs to another key. */
export async function openRestoredStore(config: Config, vault: Vault): Promise<Database> {
  const db = await openStore(storeAddress(config, vault), { maxConnections: 2 });
  try {
    await migrate(db, migrations);
    await ensureKeyFits(db, vault, config.keyFile);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** Makes this machine the host that the rows are placed on, with its authority of certificates and its token. */
export async function takeIdentity({ dataDir }: Config, vault: Vault, db: Database): Promise<void> {
  const [host] = await db<{ id: string }[]>`
    select id from hosts order by (select count(*) from instances where host_id = hosts.id) desc limit 1`;
  if (host === undefined) throw new Refusal("The restored store knows no host, so it was never in use.");
  await writeMachineFiles(dataDir, await machineFilesOf(db, vault, host.id));
  const path = join(dataDir, "host-id");
  replaceFile(path, `${host.id}\n`, 0o644);
  await syncFile(path);
}
