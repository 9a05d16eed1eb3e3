// The crash matrix of read replicas: kills of each process at the steps of making, feeding and deleting a replica; each scenario
// comes to the same end.
import type { Database } from "../../src/store/database.ts";
import { expect } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createCluster, deleteCluster, processesOf, startDatabases } from "../support/pilvi/databases.ts";
import { Failpoints, until, type ProcessName, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { ReplicatedCluster, type Replica } from "../support/pilvi/replicas.ts";
import { kill, killPilvi } from "./databases-disasters.ts";
import { openStore } from "./inspection.ts";

export type ReplicaVictim = Exclude<ProcessName, "gateway"> | "engine";
type Step = [place: string, victim: ReplicaVictim];

const at = (place: string, ...victims: ReplicaVictim[]) => victims.map((victim): Step => [place, victim]);

/** The replica has an engine at the last step alone. */
const MAKING: Step[] = [
  ...at("host.restore.planned", "host", "keeper"),
  ...at("host.restore.unpacked", "host", "keeper", "control"),
  ...at("host.restore.logged", "host", "keeper"),
  ...at("host.restore.recovered", "host"),
  ...at("slots.given", "host"),
  ...at("replica.ensured", "control", "host", "keeper", "engine"),
];

const DELETING: Step[] = [
  ...at("host.remove.marked", "host", "control", "keeper", "engine"),
  ...at("host.remove.stopped", "host", "control"),
  ...at("host.remove.emptied", "host"),
  ...at("host.remove.forgotten", "host"),
  ...at("replica.removed", "control", "host"),
];

/** A whole life of a replica with a kill at its begin and one at its end; all steps are in the list. */
export const LIVES = MAKING.map(([begins, first], index): [...Step, ...Step] => {
  const [ends, last] = DELETING[index % DELETING.length] ?? ["replica.removed", "control"];
  return [begins, first, ends, last];
});

export const FEEDING = at("host.replica.fed", "host", "control", "keeper", "engine");

const WITH = { uses_pitr: true, deployment_option: "single-az-with-read-replicas", read_replicas: 1 };
const WITHOUT = { deployment_option: "single-az", read_replicas: null };

const failpoints = new Failpoints();
let pilvi: TestPilvi;
let store: Database;
let cluster: ReplicatedCluster;

/** Starts Pilvi with a cluster that has a table, a backup and no replica. */
export async function begin(): Promise<void> {
  // A verification comes to the steps of a restore as well.
  pilvi = await startDatabases({ ...failpoints.env, PILVI_BACKUP_VERIFICATION_SECONDS: "0" });
  store = await openStore(pilvi);
  const order = { type: "provider_managed_postgres", name: "replicated", config: WITH };
  cluster = new ReplicatedCluster(pilvi, await createCluster(pilvi, order));
  await cluster.begin(1);
  expect(await cluster.change(WITHOUT)).toBe(200);
  await expectNone();
}

export async function end(): Promise<void> {
  failpoints.release();
  await store.close();
  await pilvi.close();
  failpoints.close();
}

/** Kills a process in the middle of making a replica, and another in the middle of deleting it. */
export async function interruptLife(
  begins: string,
  first: ReplicaVictim,
  ends: string,
  last: ReplicaVictim,
): Promise<void> {
  failpoints.arm(begins);
  expect(await cluster.change(WITH)).toBe(200);
  const { id, port } = await killAt(first);
  await cluster.run("insert into kept values (1)");
  await expectReplica(id, port);
  failpoints.arm(ends);
  expect(await cluster.change(WITHOUT)).toBe(200);
  await killAt(last);
  await expectNone();
}

/** Gives the cluster a replica without a kill. */
export async function makeReplica(): Promise<void> {
  expect(await cluster.change(WITH)).toBe(200);
  await cluster.untilAvailable(1);
}

/** Kills a process right after a replica got a part of the log. */
export async function interruptFeed(place: string, victim: ReplicaVictim): Promise<void> {
  const { id, port } = await cluster.firstReplica();
  failpoints.arm(place);
  await cluster.run("insert into kept values (2)");
  await killAt(victim);
  await cluster.run("insert into kept values (3)");
  await expectReplica(id, port);
}

/** Kills the control plane in the middle of the deletion of a cluster, whose replica is deleted first. */
export async function interruptDeletion(): Promise<void> {
  failpoints.arm("replica.removed");
  expect((await pilvi.api("DELETE", `/databases/clusters/${cluster.id}`)).status).toBe(204);
  await failpoints.reached();
  await killVictim("control", "");
  await deleteCluster(pilvi, cluster.id);
  await expectInstances([]);
}

/** @returns the replica as the API showed it at the step. */
async function killAt(victim: ReplicaVictim): Promise<Replica> {
  await failpoints.reached();
  const replica = await cluster.firstReplica();
  await killVictim(victim, replica.id);
  return replica;
}

/** Kills at the step that was reached, lets the survivors go on, and waits until Pilvi is whole. */
async function killVictim(victim: ReplicaVictim, replica: string): Promise<void> {
  if (victim === "engine") {
    kill(processesOf(pilvi, replica));
    failpoints.release();
    return;
  }
  const former = pilvi.runningPid(victim);
  const whole = killPilvi(pilvi, [victim]);
  failpoints.release();
  await whole;
  await until("it runs again", () => ![undefined, former].includes(pilvi.pidOf(victim)));
}

/** Waits until the replica shows all rows at its address, and checks that it is a replica still, and alone. */
async function expectReplica(id: string, port: number): Promise<void> {
  const [replica] = await cluster.untilAvailable(1);
  expect(replica).toMatchObject({ id, port });
  await cluster.untilShown(port);
  expect(await cluster.run("select pg_is_in_recovery()", port)).toBe(true);
  await expect(cluster.run("insert into kept values (0)", port)).rejects.toThrow("read-only transaction");
  const folder = cluster.folderOf(id);
  expect(existsSync(join(folder, "data", "standby.signal"))).toBe(true);
  expect(readdirSync(folder).filter((name) => name.startsWith("build."))).toEqual([]);
  await expectInstances([cluster.id, id]);
}

async function expectNone(): Promise<void> {
  await until("there is no replica", async () => (await cluster.read()).meta.replicas.length === 0);
  await expectInstances([cluster.id]);
}

/** Waits until these have an engine each, and checks that there is no other row or folder. */
async function expectInstances(ids: string[]): Promise<void> {
  const wanted = ids.toSorted();
  await until("the folders are those", () => Bun.deepEquals(pilvi.instanceFolders().sort(), wanted));
  const rows = await store<{ id: string }[]>`select id from instances order by id`;
  expect(rows.map(({ id }) => id)).toEqual(wanted);
  for (const id of wanted) await until("it runs, once", () => pilvi.enginePids(id).length === 1);
}
