// A scenario of the crash matrix of databases: an operation that is stopped at a named step, where a process is killed.
import { expect } from "bun:test";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import {
  createCluster,
  createDatabase,
  databaseNames,
  deleteCluster,
  processesOf,
  untilAnswers,
  untilCluster,
  clusterBody,
  type ClusterDocument,
  type DatabaseDocument,
} from "../support/pilvi/databases.ts";
import type { Victim } from "./scenario.ts";
import { kill, killPilvi } from "./databases-disasters.ts";
import { scenariosAt, DELETE, ENSURE, LOOP, PREPARE, START } from "./steps.ts";
import { until, type Failpoints, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { isAlive } from "../support/pilvi/processes.ts";

export type Operation = "create" | "create schema" | "delete schema" | "delete";

/** An operation, the step where it is stopped, and the victim that is killed there. */
export type Scenario = [operation: Operation, place: string, victim: Victim];

const BEFORE_ENGINE = ["loop.taken", ...PREPARE];
const SCHEMA = [...LOOP, "host.ensure.manifest", ...ENSURE];

const places: Record<Operation, string[]> = {
  create: [...BEFORE_ENGINE, ...START],
  "create schema": SCHEMA,
  "delete schema": SCHEMA,
  delete: DELETE,
};

/** All scenarios in which there is a process to kill. */
export function allScenarios(): Scenario[] {
  return scenariosAt(places, BEFORE_ENGINE);
}

/** What a scenario runs with. */
export interface Stage {
  pilvi: TestPilvi;
  failpoints: Failpoints;
  /** The type of the clusters. */
  type: string;
}

/** Runs a scenario and checks that its end is the end of an undisturbed operation. */
export async function runScenario(stage: Stage, [operation, place, victim]: Scenario): Promise<void> {
  if (operation === "create") return await playCreate(stage, place, victim);
  const cluster = await createCluster(stage.pilvi, { type: stage.type });
  if (operation === "delete") await playDelete(stage, cluster, place, victim);
  if (operation === "create schema") await playCreateSchema(stage, cluster, place, victim);
  if (operation === "delete schema") await playDeleteSchema(stage, cluster, place, victim);
}

async function playCreate(stage: Stage, place: string, victim: Victim): Promise<void> {
  const { pilvi, failpoints, type } = stage;
  failpoints.arm(place);
  const answer = await pilvi.api<ClusterDocument>("POST", "/databases/clusters", clusterBody({ type }));
  const { id, attributes } = answer.body.data;
  await killAt(stage, id, victim);
  const cluster = await untilCluster(pilvi, id, "available");
  expect(cluster.attributes.connection).toEqual(attributes.connection);
  await expectOneEngine(pilvi, cluster);
  expect(await databaseNames(cluster)).toEqual(["main"]);
  await deleteCluster(pilvi, id);
  stage.failpoints.letPass(id);
}

async function playDelete(
  stage: Stage,
  { id }: DatabaseClusterResource,
  place: string,
  victim: Victim,
): Promise<void> {
  const { pilvi, failpoints } = stage;
  const pids = processesOf(pilvi, id);
  failpoints.arm(place);
  await pilvi.api("DELETE", `/databases/clusters/${id}`);
  await killAt(stage, id, victim);
  expect((await pilvi.api("GET", `/databases/clusters/${id}?wait=deleted`)).status).toBe(404);
  failpoints.letPass(id);
  await until("the host has forgotten it", () => !pilvi.instanceFolders().includes(id));
  await until("its processes have ended", () => !pids.some(isAlive));
}

async function playCreateSchema(
  stage: Stage,
  cluster: DatabaseClusterResource,
  place: string,
  victim: Victim,
): Promise<void> {
  const { pilvi, failpoints } = stage;
  const path = `/databases/clusters/${cluster.id}/databases`;
  failpoints.arm(place);
  const { id } = (await pilvi.api<DatabaseDocument>("POST", path, { name: "reports" })).body.data;
  await killAt(stage, cluster.id, victim);
  const { body } = await pilvi.api<DatabaseDocument>("GET", `${path}/${id}?wait=available`);
  expect(body.data.attributes.status).toBe("available");
  await expectOneEngine(pilvi, await untilCluster(pilvi, cluster.id, "available"));
  expect(await databaseNames(cluster)).toEqual(["main", "reports"]);
  await deleteCluster(pilvi, cluster.id);
  failpoints.letPass(cluster.id);
}

async function playDeleteSchema(
  stage: Stage,
  cluster: DatabaseClusterResource,
  place: string,
  victim: Victim,
): Promise<void> {
  const { pilvi, failpoints } = stage;
  const schemaId = await createDatabase(pilvi, cluster.id, "reports");
  const path = `/databases/clusters/${cluster.id}/databases/${schemaId}`;
  failpoints.arm(place);
  await pilvi.api("DELETE", path);
  await killAt(stage, cluster.id, victim);
  expect((await pilvi.api("GET", `${path}?wait=deleted`)).status).toBe(404);
  await expectOneEngine(pilvi, await untilCluster(pilvi, cluster.id, "available"));
  expect(await databaseNames(cluster)).toEqual(["main"]);
  await deleteCluster(pilvi, cluster.id);
  failpoints.letPass(cluster.id);
}

/**
 * Waits until the armed fail point is reached, kills there, lets the survivors go on, and waits until Pilvi has
 * recovered.
 */
async function killAt({ pilvi, failpoints }: Stage, id: string, victim: Victim): Promise<void> {
  await failpoints.reached();
  if (victim === "engine") {
    const [pid = 0] = processesOf(pilvi, id);
    expect(pid).toBeGreaterThan(0);
    kill([pid]);
    failpoints.release();
    return;
  }
  const whole = killPilvi(pilvi, victim === "both" ? ["control", "host"] : [victim]);
  failpoints.release();
  await whole;
}

async function expectOneEngine(pilvi: TestPilvi, cluster: DatabaseClusterResource): Promise<void> {
  await untilAnswers(cluster);
  // A process that was just forked has its own name only a moment later.
  await until("it runs, once", () => pilvi.enginePids(cluster.id).length === 1);
}
