// The crash matrix of backups: kills of the control plane, the host, the keeper, the engine, and of all of them at the steps of
// a backup, a restore, a clone, a verification and a deletion; each scenario comes to the same end.
import { SQL } from "bun";
import { expect } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { PostgresSpec } from "../../src/contracts/instance-spec.ts";
import type { VerifiedRestore } from "../../src/contracts/verification.ts";
import { verificationsDir } from "../../src/host/os/layout.ts";
import { newId } from "../../src/lib/ids.ts";
import { scramVerifier } from "../../src/lib/verifiers.ts";
import { until } from "../support/pilvi/pilvi.ts";
import { freePort } from "../support/pilvi/ports.ts";
import { commandLine, enginePidsAt } from "../support/pilvi/processes.ts";
import {
  ALL_VICTIMS,
  BackupProcesses,
  scenariosOf,
  type BackupScenario,
  type BackupVictim,
} from "./backup-processes.ts";

const WITHOUT_ENGINE = ALL_VICTIMS.filter((victim) => victim !== "engine");
/** Where the engine's session is open, so that its end ends the copy as well. */
const HOT_COPY = ["host.backup.begun", "host.backup.copied", "host.backup.ended"];

export const BACKUP_SCENARIOS = [
  ...scenariosOf(HOT_COPY),
  ...scenariosOf(["host.backup.stored", "host.backup.completed"], WITHOUT_ENGINE),
];

/** The engine is that of the source, of which a restore does not depend. */
export const RESTORE_SCENARIOS = scenariosOf([
  "host.restore.planned",
  "host.restore.unpacked",
  "host.restore.logged",
  "host.restore.recovered",
  "slots.taken",
  "slots.given",
]);

/** The engine is that of the source, which is copied while it runs. */
export const CLONE_SCENARIOS = scenariosOf([
  ...HOT_COPY,
  "host.restore.unpacked",
  "host.restore.recovered",
  "slots.taken",
  "slots.given",
]);

export const VERIFICATION_SCENARIOS = scenariosOf([
  "host.restore.unpacked",
  "host.restore.recovered",
  "host.verification.restored",
]);

/** A driver breaks no deletion off. */
export const DELETION_SCENARIOS = scenariosOf(
  ["keeper.backup.delete"],
  ALL_VICTIMS.filter((victim) => victim !== "control"),
);

const NEVER = new AbortController().signal;

const processes = new BackupProcesses();
const { failpoints, dataDir, driver } = processes;
/** The port of each instance, after which its socket is named. */
const ports = new Map<string, number>();
const source = specWith("app");
/** The backup that all restores are of. */
let kept = "";

/** Starts a host and a keeper, with a Postgres that has a note and a backup of it. */
export async function begin(): Promise<void> {
  await processes.start();
  expect(await driver.ensure(source)).toMatchObject({ state: "running", lastError: null });
  await inDatabase(source.id, async (db) => {
    await db`create table notes (note varchar(100))`;
    await db`insert into notes values ('kept')`;
  });
  kept = newId("snapshot");
  await driver.backUp(source.id, kept, NEVER);
}

export async function end(): Promise<void> {
  failpoints.release();
  await driver.remove(source.id);
  await processes.close();
}

/** Kills the victim in the middle of a backup; the next call makes the backup. */
export async function interruptBackup(place: string, victim: BackupVictim): Promise<void> {
  const backup = newId("snapshot");
  const make = (signal: AbortSignal) => driver.backUp(source.id, backup, signal);
  await processes.interrupt([place, victim], processes.folderOf(source.id), make);
  const again = () => make(NEVER).catch(() => null);
  await until("the backup is made", async () => (await again())?.id === backup);
  expect(await storedBackups()).toEqual([kept, backup]);
  await expectSourceAtRest();
  await driver.deleteBackup(source.id, backup);
}

/** Kills the victim in the middle of a restore, which comes to its end in any case. */
export async function interruptRestore(place: string, victim: BackupVictim): Promise<void> {
  await interruptCopy([place, victim], { archive: source.id, backup: kept });
}

/** Kills the victim in the middle of a clone of the running source, which comes to its end in any case. */
export async function interruptClone(place: string, victim: BackupVictim): Promise<void> {
  await interruptCopy([place, victim], { instance: source.id });
}

async function interruptCopy(scenario: BackupScenario, origin: PostgresSpec["origin"]): Promise<void> {
  const copy = { ...specWith("app"), ...(origin !== undefined && { origin }) };
  const make = (signal: AbortSignal) => driver.ensure(copy, signal);
  await processes.interrupt(scenario, processes.folderOf(source.id), make);
  const state = async () => (await make(NEVER).catch(() => null))?.state;
  await until("it is restored", async () => (await state()) === "running");
  expect(await noteOf(copy.id)).toBe("kept");
  expect(readdirSync(processes.folderOf(copy.id)).filter((name) => name.startsWith("build."))).toEqual([]);
  await driver.remove(copy.id);
  expect(existsSync(processes.folderOf(copy.id))).toBe(false);
  expect(enginePidsAt(processes.folderOf(copy.id))).toEqual([]);
  expect(await storedBackups()).toEqual([kept]);
  await expectSourceAtRest();
}

/** Kills the victim in the middle of a verification, which is begun again and leaves nothing. */
export async function interruptVerification(place: string, victim: BackupVictim): Promise<void> {
  const copies = verificationsDir(dataDir);
  await processes.interrupt([place, victim], copies, verifyKept);
  if (victim === "host") await until("the rest is deleted", () => !existsSync(copies));
  const faults = async () => (await verifyKept(NEVER).catch(() => null))?.faults;
  await until("it is verified", async () => (await faults())?.length === 0);
  expect(existsSync(copies)).toBe(false);
  await until("no program is left", () => enginePidsAt(copies).length === 0);
  await expectSourceAtRest();
}

function verifyKept(signal: AbortSignal): Promise<VerifiedRestore> {
  return driver.verify(source.id, { backup: kept }, signal);
}

/** Kills the victim while a backup is deleted, of which nothing is left. */
export async function interruptDeletion(place: string, victim: BackupVictim): Promise<void> {
  const backup = newId("snapshot");
  await driver.backUp(source.id, backup, NEVER);
  const remove = () => driver.deleteBackup(source.id, backup);
  await processes.interrupt([place, victim], processes.folderOf(source.id), remove);
  const removed = () =>
    remove().then(
      () => true,
      () => false,
    );
  await until("it is deleted", removed);
  expect(await storedBackups()).toEqual([kept]);
  expect(readdirSync(join(dataDir, "backups", "archives", source.id, "backups"))).toEqual([kept]);
  await expectSourceAtRest();
}

/** The source runs with its data, and nothing of a copy is left at it. */
async function expectSourceAtRest(): Promise<void> {
  await until(
    "it runs",
    async () => (await driver.observe(source.id).catch(() => null))?.state === "running",
  );
  await until("no program copies", () => copyingPrograms(source.id).length === 0);
  // The session of a killed host ends with the statement that it is in.
  await until("no slot is left", async () => {
    const slots = await inDatabase(source.id, (db) => db`select from pg_replication_slots`).catch(() => null);
    return slots?.length === 0;
  });
  expect(await noteOf(source.id)).toBe("kept");
}

async function storedBackups(): Promise<string[]> {
  const archive = await driver.archive(source.id);
  return archive?.backups.map(({ id }) => id) ?? [];
}

function specWith(user: string): PostgresSpec {
  const id = newId("db");
  const port = freePort();
  ports.set(id, port);
  return {
    kind: "postgres",
    id,
    engines: ["postgres"],
    users: [{ name: user, verifier: scramVerifier("moi", id) }],
    exposure: { port, scope: "loopback", through: "gateway" },
    sleepAfterSeconds: null,
    version: null,
    memoryBytes: 256 * 1024 ** 2,
    cpus: null,
    maxConnections: 20,
    databases: [{ name: "main", owner: user, desiredState: "present" }],
  };
}

function copyingPrograms(id: string): number[] {
  return enginePidsAt(processes.folderOf(id)).filter((pid) => commandLine(pid)[0]?.endsWith("/tar"));
}

async function noteOf(id: string): Promise<string | undefined> {
  return (await inDatabase(id, (db) => db<{ note: string }[]>`select note from notes`))[0]?.note;
}

async function inDatabase<T>(id: string, use: (db: SQL) => Promise<T>): Promise<T> {
  const path = join(processes.folderOf(id), "run", `.s.PGSQL.${ports.get(id)}`);
  const db = new SQL({
    adapter: "postgres",
    path,
    username: "app",
    password: "moi",
    database: "main",
    max: 1,
  });
  try {
    return await use(db);
  } finally {
    await db.close();
  }
}
