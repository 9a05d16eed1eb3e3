// The crash matrix of a MariaDB's log: kills of host, keeper, engine and client while the log is shipped, restored, verified
// and deleted; each scenario comes to the same end, and the log in the archive has no gap.
import { SQL } from "bun";
import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { MysqlSpec } from "../../src/contracts/instance-spec.ts";
import { verificationsDir } from "../../src/host/os/layout.ts";
import { newId } from "../../src/lib/ids.ts";
import { nativeVerifier } from "../../src/lib/verifiers.ts";
import { until } from "../support/pilvi/pilvi.ts";
import { freePort } from "../support/pilvi/ports.ts";
import { enginePidsAt, killIfThere } from "../support/pilvi/processes.ts";
import { BackupProcesses, type BackupProcess } from "./backup-processes.ts";

/** The control plane has no part in this but its requests, which break off when it is killed. */
export type LogVictim = BackupProcess | "engine" | "control";
export type LogScenario = [place: string, victim: LogVictim];

/** A request that is repeated until it is answered, as the control plane repeats its work. */
type Request = (signal: AbortSignal) => Promise<unknown>;

const NOBODY_ASKS = ["host", "keeper", "engine"] as const;
const ALL = [...NOBODY_ASKS, "control"] as const;

/** Whole transactions of this size fill a file of the log, so that another begins. */
const FILE_BYTES = 4_500_000;
const SOME_BYTES = 100;

export const SHIP_SCENARIOS = matrix(
  ["keeper.log.piece", "keeper.log.watermark", "keeper.log.segment", "keeper.log.closed"],
  NOBODY_ASKS,
);
/** The steps that are the same for every engine are those of `backups.ts`. */
export const RESTORE_SCENARIOS = matrix(["host.replay.cut", "host.replay.applied"], ALL);
export const VERIFICATION_SCENARIOS = matrix(["host.replay.applied"], ALL);
export const RETENTION_SCENARIOS = matrix(["keeper.log.delete"], ALL);
export const DELETION_SCENARIOS = matrix(["keeper.archive.delete"], ["host", "keeper", "control"]);

const processes = new BackupProcesses();
const { driver, failpoints } = processes;
const source = newSpec({ keepsLog: true });
const never = new AbortController().signal;

function matrix(places: string[], victims: readonly LogVictim[]): LogScenario[] {
  return places.flatMap((place) => victims.map((victim): LogScenario => [place, victim]));
}

/** Starts a host and a keeper, with a MariaDB that keeps its log, and a backup of it. */
export async function begin(): Promise<void> {
  await processes.start();
  expect(await driver.ensure(source)).toMatchObject({ state: "running", lastError: null });
  await inDatabase(source, (db) =>
    db.unsafe("create table written (n int primary key auto_increment, pad longtext)"),
  );
  await driver.backUp(source.id, newId("snapshot"), never);
}

export async function end(): Promise<void> {
  failpoints.release();
  await driver.remove(source.id);
  await processes.close();
}

/** Kills the victim while the keeper ships what was written just now. */
export async function interruptShipping(place: string, victim: LogVictim): Promise<void> {
  const isEndOfFile = place === "keeper.log.segment" || place === "keeper.log.closed";
  failpoints.arm(place);
  await write(isEndOfFile ? FILE_BYTES : SOME_BYTES);
  if (isEndOfFile) await write(SOME_BYTES);
  await failpoints.reached();
  await kill(victim, source);
  await write(SOME_BYTES);
  await expectWholeLog();
}

/** All that was written can be restored. */
export async function expectAllRestored(): Promise<void> {
  const copy = await latestCopy();
  await driver.ensure(copy);
  await expectSame(copy);
  await driver.remove(copy.id);
}

/** Kills the victim in the middle of a restore of the latest state, which comes to its end in any case. */
export async function interruptRestore(place: string, victim: LogVictim): Promise<void> {
  await write(SOME_BYTES);
  const copy = await latestCopy();
  await interrupt([place, victim], copy, (signal) => driver.ensure(copy, signal));
  const state = async () => (await driver.ensure(copy).catch(() => null))?.state;
  await until("it is restored", async () => (await state()) === "running");
  await expectSame(copy);
  await driver.remove(copy.id);
  expect(existsSync(processes.folderOf(copy.id))).toBe(false);
}

/** Kills the victim in the middle of a verification of the latest state, which finds no fault and leaves nothing. */
export async function interruptVerification(place: string, victim: LogVictim): Promise<void> {
  await write(SOME_BYTES);
  const { origin } = await latestCopy();
  const target = { at: "at" in origin ? origin.at : "" };
  const verify = (signal: AbortSignal) => driver.verify(source.id, target, signal);
  await interrupt([place, victim], null, verify);
  const copies = verificationsDir(processes.dataDir);
  const faults = async () => (await verify(never).catch(() => null))?.faults;
  await until("it is verified", async () => (await faults())?.length === 0);
  expect(existsSync(copies)).toBe(false);
  await until("no program is left", () => enginePidsAt(copies).length === 0);
}

/** Kills the victim while backups and the log before the newest backup are deleted; the rest can be restored. */
export async function interruptRetention(place: string, victim: LogVictim): Promise<void> {
  await write(FILE_BYTES);
  const backup = newId("snapshot");
  await driver.backUp(source.id, backup, never);
  // A planned restore holds what it reads, and only the keeper that planned it knows.
  await processes.restart("keeper");
  const retain = () => driver.retain(source.id, { keepFrom: new Date().toISOString(), keepBackups: [] });
  await markOld(retain);
  await interrupt([place, victim], source, retain);
  await until("all else is deleted", async () => {
    await retain().catch(() => null);
    const { backups = [] } = (await driver.archive(source.id).catch(() => null)) ?? {};
    return backups.length === 1 && backups[0]?.id === backup;
  });
  await expectWholeLog();
}

/** A segment is deleted by a retention that comes later than the first that names it. */
async function markOld(retain: () => Promise<void>): Promise<void> {
  await shippedAfter(Date.now());
  await retain();
  const marked = await shippedAfter(Date.now());
  await until("the marks count", () => Date.now() > Date.parse(marked) + 1_000);
}

/** Kills the victim while the archive of a removed instance is deleted, of which nothing is left. */
export async function interruptDeletion(place: string, victim: LogVictim): Promise<void> {
  const { id } = source;
  const lost = newSpec({ keepsLog: true });
  expect(await driver.ensure(lost)).toMatchObject({ state: "running", lastError: null });
  await until("its log is shipped", async () => Boolean((await driver.archive(lost.id))?.log?.watermark));
  await driver.remove(lost.id);
  await interrupt([place, victim], source, () => driver.deleteArchive(lost.id));
  const folder = join(processes.dataDir, "backups", "archives", lost.id);
  await until("it is deleted", async () => {
    const isAnswered = await driver.deleteArchive(lost.id).then(
      () => true,
      () => false,
    );
    return isAnswered && !existsSync(folder);
  });
  expect((await driver.archives()).map((archive) => archive.id)).toEqual([id]);
}

/** Makes a request, and kills the victim at the place. @param engineOf whose engine is the victim; null for the copy that is verified. */
async function interrupt(
  [place, victim]: LogScenario,
  engineOf: MysqlSpec | null,
  ask: Request,
): Promise<void> {
  const client = new AbortController();
  failpoints.arm(place);
  const first = ask(client.signal).catch(() => null);
  await failpoints.reached();
  if (victim === "control") client.abort();
  await kill(victim, engineOf);
  await first;
}

async function kill(victim: LogVictim, engineOf: MysqlSpec | null): Promise<void> {
  if (victim === "host" || victim === "keeper") return await processes.restart(victim);
  const folder = engineOf === null ? verificationsDir(processes.dataDir) : processes.folderOf(engineOf.id);
  if (victim === "engine") for (const pid of enginePidsAt(folder)) killIfThere(pid);
  failpoints.release();
}

/** The log is shipped up to now, without a gap, and a restore of now could begin. */
async function expectWholeLog(): Promise<void> {
  const at = await shippedAfter(Date.now());
  expect((await driver.archive(source.id))?.log?.gaps).toEqual([]);
  expect((await driver.planRestore(source.id, { at })).recovery).toMatchObject({ kind: "time" });
}

/** A copy of all that was written by now. */
async function latestCopy(): Promise<MysqlSpec & { origin: { archive: string; at: string } }> {
  // The log has seconds, and that of the latest commit has to be over.
  const at = new Date((Math.floor(Date.now() / 1000) + 1) * 1000).toISOString();
  await shippedAfter(Date.parse(at));
  return { ...newSpec({}), origin: { archive: source.id, at } };
}

async function shippedAfter(ms: number): Promise<string> {
  let at = "";
  await until("the log is shipped", async () => {
    const archive = await driver.archive(source.id).catch(() => null);
    at = archive?.log?.watermark.at ?? "";
    return Date.parse(at) > ms;
  });
  return at;
}

/** The engine may just have been killed. */
async function write(bytes: number): Promise<void> {
  const insert = `insert into written (pad) values (repeat('x', ${bytes}))`;
  const isWritten = () =>
    inDatabase(source, (db) => db.unsafe(insert)).then(
      () => true,
      () => false,
    );
  await until("a row is written", isWritten);
}

async function expectSame(copy: MysqlSpec): Promise<void> {
  expect(await written(copy)).toEqual(await written(source));
}

async function written(spec: MysqlSpec): Promise<unknown> {
  return await inDatabase(spec, (db) => db.unsafe("select n from written order by n"));
}

function newSpec(more: Partial<MysqlSpec>): MysqlSpec {
  return {
    kind: "mysql",
    id: newId("db"),
    engines: ["mariadb"],
    users: [{ name: "app", verifier: nativeVerifier("moi") }],
    exposure: { port: freePort(), scope: "loopback", through: "engine" },
    sleepAfterSeconds: null,
    version: null,
    memoryBytes: 256 * 1024 ** 2,
    cpus: null,
    maxConnections: 20,
    databases: [{ name: "main", owner: "app", desiredState: "present" }],
    ...more,
  };
}

async function inDatabase<T>({ exposure }: MysqlSpec, use: (db: SQL) => Promise<T>): Promise<T> {
  const db = new SQL({
    adapter: "mysql",
    hostname: "127.0.0.1",
    port: exposure.port ?? 0,
    username: "app",
    password: "moi",
    database: "main",
    max: 1,
    connectionTimeout: 5,
  });
  try {
    return await use(db);
  } finally {
    await db.close({ timeout: 0 });
  }
}
