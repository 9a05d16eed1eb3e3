// The crash matrix of backups: kills of host, keeper and engine at the steps of a backup, a restore and a verification; each scenario
// comes to the same end.
import { SQL } from "bun";
import { expect } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { PostgresSpec } from "../../src/contracts/instance-spec.ts";
import { verificationsDir } from "../../src/host/os/layout.ts";
import { newId } from "../../src/lib/ids.ts";
import { scramVerifier } from "../../src/lib/verifiers.ts";
import { until } from "../support/pilvi/pilvi.ts";
import { freePort } from "../support/pilvi/ports.ts";
import { commandLine, enginePidsAt, killIfThere } from "../support/pilvi/processes.ts";
import { BackupProcesses, type BackupProcess } from "./backup-processes.ts";

export type BackupVictim = BackupProcess | "engine";
export type BackupScenario = [place: string, victim: BackupVictim];

const HOST_AND_KEEPER = ["host", "keeper"] as const;

/** A hot backup: while the engine's session is open, the end of the engine ends the copy as well. */
export const BACKUP_SCENARIOS: BackupScenario[] = [
  ...["host.backup.begun", "host.backup.copied", "host.backup.ended"].flatMap((place) =>
    (["host", "keeper", "engine"] as const).map((victim): BackupScenario => [place, victim]),
  ),
  ...["host.backup.stored", "host.backup.completed"].flatMap((place) =>
    HOST_AND_KEEPER.map((victim): BackupScenario => [place, victim]),
  ),
];

export const RESTORE_SCENARIOS: BackupScenario[] = [
  "host.restore.planned",
  "host.restore.unpacked",
  "host.restore.logged",
  "host.restore.recovered",
  "slots.taken",
  "slots.given",
].flatMap((place) => HOST_AND_KEEPER.map((victim): BackupScenario => [place, victim]));

export const VERIFICATION_SCENARIOS: BackupScenario[] = [
  "host.restore.unpacked",
  "host.restore.recovered",
  "host.verification.restored",
].flatMap((place) => HOST_AND_KEEPER.map((victim): BackupScenario => [place, victim]));

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
  failpoints.arm(place);
  const first = driver.backUp(source.id, backup, NEVER).catch(() => null);
  await failpoints.reached();
  await kill(victim);
  await first;
  const again = () => driver.backUp(source.id, backup, NEVER).catch(() => null);
  await until("the backup is made", async () => (await again())?.id === backup);
  const archive = await driver.archive(source.id);
  expect(archive?.backups.map(({ id }) => id)).toEqual([kept, backup]);
  await until("it runs", async () => (await driver.observe(source.id)).state === "running");
  await until("no program copies", () => copyingPrograms(source.id).length === 0);
  // The session of a killed host ends with the statement that it is in.
  await until("no slot is left", async () => {
    return (await inDatabase(source.id, (db) => db`select from pg_replication_slots`)).length === 0;
  });
  await driver.deleteBackup(source.id, backup);
  expect(await noteOf(source.id)).toBe("kept");
}

/** Kills the victim in the middle of a restore, which comes to its end in any case. */
export async function interruptRestore(place: string, victim: BackupVictim): Promise<void> {
  const copy = { ...specWith("app"), origin: { archive: source.id, backup: kept } };
  failpoints.arm(place);
  const first = driver.ensure(copy).catch(() => null);
  await failpoints.reached();
  await kill(victim);
  await first;
  const asked = async () => (await driver.ensure(copy)).state;
  await until("it is restored", async () => (await asked().catch(() => null)) === "running");
  expect(await noteOf(copy.id)).toBe("kept");
  expect(readdirSync(processes.folderOf(copy.id)).filter((name) => name.startsWith("build."))).toEqual([]);
  await driver.remove(copy.id);
  expect(existsSync(processes.folderOf(copy.id))).toBe(false);
  expect(enginePidsAt(processes.folderOf(copy.id))).toEqual([]);
}

/** Kills the victim in the middle of a verification, which is begun again and leaves nothing. */
export async function interruptVerification(place: string, victim: BackupVictim): Promise<void> {
  const verify = () => driver.verify(source.id, { backup: kept }, NEVER).catch(() => null);
  failpoints.arm(place);
  const first = verify();
  await failpoints.reached();
  await kill(victim);
  await first;
  const copies = verificationsDir(dataDir);
  if (victim === "host") await until("the rest is deleted", () => !existsSync(copies));
  await until("it is verified", async () => (await verify())?.faults.length === 0);
  expect(existsSync(copies)).toBe(false);
  await until("no program is left", () => enginePidsAt(copies).length === 0);
  expect(await driver.observe(source.id)).toMatchObject({ state: "running" });
}

async function kill(victim: BackupVictim): Promise<void> {
  if (victim !== "engine") return await processes.restart(victim);
  for (const pid of enginePidsAt(processes.folderOf(source.id))) killIfThere(pid);
  failpoints.release();
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
