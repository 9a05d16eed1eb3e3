// The crash matrix of snapshots in a whole Pilvi: made, deleted and purged, stopped at every step of the control plane, with
// every victim. The steps of the host and the keeper are those of `backups-crash.test.ts`.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import {
  connectPg,
  createCluster,
  deleteCluster,
  firstOf,
  processesOf,
  startDatabases,
} from "../support/pilvi/databases.ts";
import { Failpoints, type TestPilvi, until } from "../support/pilvi/pilvi.ts";
import { killIfThere } from "../support/pilvi/processes.ts";
import { shareOf } from "../crash/share.ts";

interface Snapshot {
  id: string;
  attributes: { status: string };
}

type Victim = "control" | "host" | "keeper" | "engine" | "all";
type Scenario = [place: string, victim: Victim];

const VICTIMS: Victim[] = ["control", "host", "keeper", "engine", "all"];
const matrix = (places: string[], victims = VICTIMS) =>
  places.flatMap((place) => victims.map((victim): Scenario => [place, victim]));

const MAKING = matrix(["snapshot.written", "snapshot.creating", "snapshot.made"]);
const DELETING = matrix(["snapshot.removed"]);
/** A deleted cluster has no engine. */
const PURGING = matrix(
  ["archive.removed"],
  VICTIMS.filter((victim) => victim !== "engine"),
);

const failpoints = new Failpoints();
let pilvi: TestPilvi;
let cluster: DatabaseClusterResource;

beforeAll(async () => {
  pilvi = await startDatabases(failpoints.env);
  cluster = await createCluster(pilvi, { name: "source", config: { suspend_seconds: 0 } });
  const client = await connectPg(cluster);
  await client.query("create table notes as select 'kept' as note");
  await client.end();
});

afterAll(async () => {
  failpoints.release();
  await pilvi.close();
  failpoints.close();
});

test.each(shareOf(MAKING))("a snapshot that is made, at %s, survives a kill of %s", async (place, victim) => {
  const key = randomUUID();
  failpoints.arm(place);
  const first = make(cluster.id, key).catch(() => null);
  await strike(victim);
  await first;
  const id = await make(cluster.id, key);
  expect(await statusOf(id, "available")).toBe("available");
  expect(await snapshotsOf(cluster.id)).toEqual([id]);
  expect(storedIn(cluster.id)).toEqual([id]);
  await remove(id);
  expect(storedIn(cluster.id)).toEqual([]);
  await expectSourceAtRest();
});

test.each(shareOf(DELETING))(
  "a snapshot that is deleted, at %s, survives a kill of %s",
  async (place, victim) => {
    const id = await make(cluster.id, randomUUID());
    await statusOf(id, "available");
    failpoints.arm(place);
    const first = pilvi.api("DELETE", `/database-snapshots/${id}`).catch(() => null);
    await strike(victim);
    await first;
    await remove(id);
    expect(await snapshotsOf(cluster.id)).toEqual([]);
    expect(storedIn(cluster.id)).toEqual([]);
    await expectSourceAtRest();
  },
);

test.each(shareOf(PURGING))(
  "backups that are purged, at %s, are gone after a kill of %s",
  async (place, victim) => {
    const { id } = await createCluster(pilvi, { name: "purged" });
    const snapshot = await make(id, randomUUID());
    await statusOf(snapshot, "available");
    await deleteCluster(pilvi, id);
    expect(storedIn(id)).toEqual([snapshot]);
    failpoints.arm(place);
    const first = pilvi.api("DELETE", `/databases/clusters/${id}/backups`).catch(() => null);
    await strike(victim);
    await first;
    await until("its backups are gone", async () => {
      const { status } = await pilvi.api("GET", `/databases/clusters/${id}/backups`);
      return status === 404;
    });
    expect((await pilvi.api("GET", `/database-snapshots/${snapshot}`)).status).toBe(404);
    expect(existsSync(archiveOf(id))).toBe(false);
    await expectSourceAtRest();
  },
);

/** Kills the victim at the armed fail point, and resolves when Pilvi is ready again. */
async function strike(victim: Victim): Promise<void> {
  await failpoints.reached();
  if (victim === "engine" || victim === "all")
    for (const pid of processesOf(pilvi, cluster.id)) killIfThere(pid);
  if (victim === "all") pilvi.kill("host", "keeper", "gateway", "control");
  else if (victim !== "engine") pilvi.kill(victim);
  failpoints.release();
  await pilvi.untilReady();
}

async function make(id: string, key: string): Promise<string> {
  const path = `/databases/clusters/${id}/snapshots`;
  const headers = { "idempotency-key": key };
  const answer = await pilvi.api<{ data: Snapshot }>("POST", path, { name: "before" }, headers);
  if (answer.status !== 201) throw new Error(`no snapshot: ${JSON.stringify(answer.body)}`);
  return answer.body.data.id;
}

/** The status of a snapshot, as soon as it is this or final. */
async function statusOf(id: string, awaited: string): Promise<string> {
  const { body } = await pilvi.api<{ data: Snapshot }>("GET", `/database-snapshots/${id}?wait=${awaited}`);
  return body.data.attributes.status;
}

async function snapshotsOf(id: string): Promise<string[]> {
  const { body } = await pilvi.api<{ data: Snapshot[] }>("GET", `/databases/clusters/${id}/snapshots`);
  return body.data.map((snapshot) => snapshot.id);
}

/** Deletes a snapshot that may be deleted already, and resolves when it is gone. */
async function remove(id: string): Promise<void> {
  await until("it is gone", async () => {
    return (await pilvi.api("DELETE", `/database-snapshots/${id}`)).status === 404;
  });
}

function archiveOf(id: string): string {
  return join(pilvi.dataDir, "backups", "archives", id);
}

/** All backups in the archive, also backups without a row in the store. */
function storedIn(id: string): string[] {
  const folder = join(archiveOf(id), "backups");
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** The source has its data, and takes logins. */
async function expectSourceAtRest(): Promise<void> {
  let note: unknown;
  await until("the source takes logins", async () => {
    const client = await connectPg(cluster).catch(() => null);
    note =
      client === null ? undefined : await firstOf(client, "select note from notes").catch(() => undefined);
    await client?.end().catch(() => undefined);
    return note !== undefined;
  });
  expect(note).toBe("kept");
}
