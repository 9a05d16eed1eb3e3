// `pilvi restore-all`: brings everything back on a new machine, from a backup target and the key file alone.
import { existsSync } from "node:fs";
import type { Config } from "../../config.ts";
import type { RestoreState } from "../../contracts/restore-all.ts";
import { localDriver } from "../../drivers/local/index.ts";
import type { Driver } from "../../drivers/driver.ts";
import { hostSocket } from "../../host/os/layout.ts";
import { Refusal } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { OPEN_FILES, raiseOpenFileLimit } from "../../lib/open-files.ts";
import { protectFromOom } from "../../lib/oom-score.ts";
import type { Vault } from "../../lib/secrets.ts";
import type { Database } from "../../store/database.ts";
import { ensureDataDir, lockDataDir } from "../bootstrap/data-dir.ts";
import { ensureEngines } from "../bootstrap/engine-setup.ts";
import { openVault } from "../bootstrap/identity.ts";
import { refuseTakenPort } from "../bootstrap/port-refusal.ts";
import { makeChildren, stopAll, type Children } from "../program/children.ts";
import { ensureProgram } from "../program/program.ts";
import { complain, say, stopSignal } from "../program/terminal.ts";
import { followResources, RestoredBytes, showProgress } from "../restore/follow.ts";
import {
  endRestoreState,
  readRestoreState,
  refuseUsedFolder,
  writeRestoreState,
} from "../restore/restore-state.ts";
import { prepareRows } from "../restore/rows.ts";
import { checkSource } from "../restore/source.ts";
import { openRestoredStore, restoreStore, takeIdentity } from "../restore/store.ts";
import { readCertificate } from "../tls/certificate.ts";

const INTERRUPTED = 130;

/** Everything that the steps of a restore need. */
interface Restore {
  config: Config;
  vault: Vault;
  children: Children;
  driver: Driver;
  stop: AbortSignal;
}

/**
 * Restores everything, and stops. After a kill, the same command goes on.
 * @returns the exit code: 1 when a resource is lost, or could not be restored.
 * @throws Refusal when the data directory, the key or the target cannot be used.
 */
export async function restoreAllCommand(config: Config, from: string): Promise<number> {
  protectFromOom();
  raiseOpenFileLimit(OPEN_FILES);
  const stop = stopSignal();
  const { dataDir } = config;
  const begun = readRestoreState(dataDir);
  if (begun === null) refuseUsedFolder(config);
  refuseForeignStore(config);
  const vault = await givenVault(config);
  await checkSource(from, config, vault);
  ensureDataDir(dataDir);
  if (!lockDataDir(dataDir, "up"))
    throw new Refusal(`A Pilvi already runs on the data directory ${dataDir}.`);
  refuseTakenPort(config);
  readCertificate(config);
  const state = begun ?? { stage: "store", startedAt: new Date().toISOString() };
  if (begun === null) await writeRestoreState(dataDir, state);
  if (!(await ensureEngines(config, stop, complain))) return 1;
  const children = makeChildren(config, await ensureProgram(dataDir), { PILVI_BACKUP_TARGETS: from });
  const driver = localDriver(hostSocket(dataDir));
  const ended = new AbortController();
  try {
    const signal = AbortSignal.any([stop, ended.signal]);
    const failures = await restoreAll({ config, vault, children, driver, stop: signal }, state);
    if (stop.aborted) return interrupted();
    sayEnd(state.startedAt, failures, from);
    return failures === 0 ? 0 : 1;
  } catch (error) {
    if (stop.aborted) return interrupted();
    throw error;
  } finally {
    showProgress("");
    ended.abort();
    await stopAll(children);
  }
}

/** @returns the number of resources that are lost, or that have failed. */
async function restoreAll(restore: Restore, begun: RestoreState): Promise<number> {
  const { config, vault, children, driver, stop } = restore;
  await children.host.start();
  await children.keeper.start();
  const bytes = new RestoredBytes(driver, stop);
  if (begun.stage === "store") {
    const at = await bytes.shownDuring(restoreStore(driver, vault, stop));
    say(`Pilvi's own store is back with its data of ${at}.`);
  }
  const db = await openRestoredStore(config, vault);
  try {
    const { resources, losses, lost } = begun.stage === "store" ? await prepared(restore, db, begun) : begun;
    [...losses, ...lost].forEach(say);
    if (stop.aborted) return 0;
    // A control plane logs in to databases through the gateway.
    await children.gateway.start();
    await children.control.start();
    const failures = await followResources(db, resources, bytes, stop);
    if (!stop.aborted) endRestoreState(config.dataDir);
    return lost.length + failures;
  } finally {
    await db.close();
  }
}

/** From here on the rows say what is to be restored, and a start of Pilvi would go on with it as well. */
async function prepared({ config, vault, driver }: Restore, db: Database, { startedAt }: RestoreState) {
  await takeIdentity(config, vault, db);
  await failpoint("restore-all.store");
  const found = await prepareRows(db, driver);
  await failpoint("restore-all.rows");
  const state = { stage: "resources", startedAt, ...found } as const;
  await writeRestoreState(config.dataDir, state);
  await failpoint("restore-all.prepared");
  return state;
}

/** @throws Refusal when the store is not Pilvi's own. */
function refuseForeignStore({ databaseUrl }: Config): void {
  if (databaseUrl === undefined) return;
  throw new Refusal(
    "PILVI_DATABASE_URL names another Postgres for the store, which Pilvi does not back up. Unset it to restore Pilvi's own store.",
  );
}

/** @throws Refusal without a key file, which is never made here. */
async function givenVault(config: Config): Promise<Vault> {
  if (existsSync(config.keyFile)) return await openVault(config);
  throw new Refusal(
    `There is no key file ${config.keyFile}. Put the key file of the lost machine there, or name its place with PILVI_KEY_FILE.`,
  );
}

function sayEnd(startedAt: string, failures: number, from: string): void {
  const seconds = ((Date.now() - Date.parse(startedAt)) / 1_000).toFixed(1);
  const what = failures === 0 ? "Everything is back" : `All but ${failures} of the resources are back`;
  say(
    `${what} after ${seconds} s. Start Pilvi with PILVI_BACKUP_TARGETS=${from}, so that backups go on there.`,
  );
}

function interrupted(): number {
  complain("The restore was interrupted. Run the same command again, which goes on.");
  return INTERRUPTED;
}
