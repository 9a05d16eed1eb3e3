// Customers of Postgres with more or larger objects than the host reads: others wake as fast as ever, and Pilvi starts
// again.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ADMIN_NAME } from "../../src/engines/postgres/config.ts";
import { socketAddress } from "../../src/lib/unix-socket.ts";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import { BoundsVictim } from "../support/load/bounds-victim.ts";
import {
  connectPg,
  createCluster,
  POSTGRES,
  POSTGRES_MAJORS,
  type ClusterDocument,
} from "../support/pilvi/databases.ts";
import { until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { Sleeper } from "../support/pilvi/sleepers.ts";

const LEFT_OUT = /users? (is|are) left out and cannot log in/;
/** A published user is never left out: its password is set again. */
const SET_AGAIN = /was changed by SQL/;

interface Attack {
  name: string;
  versions: string;
  /** What the engine does with the statements: "taken", "refused", or either when empty. */
  outcome: string;
  sql: string;
}

const attacks: Attack[] = readFileSync(join(import.meta.dir, "data/bounds.sql"), "utf8")
  .split(/^--! /m)
  .slice(1)
  .map((part) => {
    const [head = "", ...lines] = part.split("\n");
    const at = head.lastIndexOf(":");
    const [versions = "", outcome = ""] = head
      .slice(at + 1)
      .trim()
      .split(" ");
    return { name: head.slice(0, at), versions, outcome, sql: lines.join("\n") };
  });

/** The administrator makes them: a customer would take ten minutes. */
const crowd = readFileSync(join(import.meta.dir, "data/bounds-crowd.sql"), "utf8");

let victim: BoundsVictim;
let pilvi: TestPilvi;

beforeAll(async () => {
  victim = await BoundsVictim.begin();
  ({ pilvi } = victim);
});
afterAll(async () => await pilvi.close());

/** A login of an unknown user makes the host ask the engine for its users. */
async function askForUsers(cluster: DatabaseClusterResource): Promise<void> {
  await expect(connectPg(cluster, { user: "nobody-knows" })).rejects.toThrow(
    "password authentication failed",
  );
}

async function read(cluster: DatabaseClusterResource): Promise<DatabaseClusterResource> {
  return (await pilvi.api<ClusterDocument>("GET", `/databases/clusters/${cluster.id}`)).body.data;
}

async function untilReported(cluster: DatabaseClusterResource, reported = LEFT_OUT): Promise<void> {
  await until("the owner sees the reason", async () =>
    reported.test((await read(cluster)).meta.last_error ?? ""),
  );
  expect((await read(cluster)).attributes.status).toBe("available");
}

/** Logs in as the customer, without any startup setting. */
async function wake(cluster: DatabaseClusterResource): Promise<void> {
  await (await connectPg(cluster, { options: "-c search_path=public" })).end();
}

function isFor({ versions }: Attack, major: number): boolean {
  const [first = 0, last = 0] = versions.split("-").map(Number);
  return versions === "all" || (first <= major && major <= last);
}

/** Runs the statements of an attack as the customer. @throws when the engine does not do as the attack expects. */
async function carryOut({ name, outcome, sql }: Attack, cluster: DatabaseClusterResource): Promise<void> {
  const app = await connectPg(cluster, { options: "-c search_path=public" });
  const error = await app.query(sql).then(
    () => null,
    (reason: unknown) => String(reason),
  );
  await app.end().catch(() => undefined);
  if (outcome === "taken") expect(error, name).toBeNull();
  if (outcome === "refused") expect(error, name).not.toBeNull();
}

async function asAdmin(cluster: DatabaseClusterResource, action: (admin: SQL) => Promise<unknown>) {
  const run = join(pilvi.dataDir, "instances", cluster.id, "run");
  const admin = new SQL({
    adapter: "postgres",
    path: socketAddress(join(run, `.s.PGSQL.${cluster.attributes.connection.port}`)),
    username: ADMIN_NAME,
    password: "",
    database: "postgres",
    max: 1,
  });
  await action(admin);
  await admin.close();
}

describe.each(POSTGRES_MAJORS)("Postgres %d", (major) => {
  test("statements of a customer harm no other customer", async () => {
    const before = await victim.wakes();
    const cluster = await createCluster(pilvi, {
      name: `hostile-${major}`,
      type: POSTGRES,
      // With less computing power, creating the large objects would take most of the time.
      config: { cu_min: 2, cu_max: 2, suspend_seconds: 3_600 },
      version: String(major),
    });
    for (const attack of attacks.filter((each) => isFor(each, major))) {
      await carryOut(attack, cluster);
      await askForUsers(cluster);
    }
    const beside = await victim.wakes(() => askForUsers(cluster));
    const reported = major < 16 ? SET_AGAIN : LEFT_OUT;
    await untilReported(cluster, reported);
    const sleeper = new Sleeper(pilvi, cluster);
    // So many new rows are vacuumed at some time.
    await until("it sleeps", async () => (await sleeper.suspend()).status === 200);
    await untilReported(cluster, reported);
    const asleep = await victim.wakes();
    await pilvi.api("DELETE", `/databases/clusters/${cluster.id}`);
    await victim.expectUnharmed(before, beside, asleep);
  });

  test("a hundred thousand roles harm no other customer, and their cluster starts again", async () => {
    const before = await victim.wakes();
    const cluster = await createCluster(pilvi, { name: `crowded-${major}`, version: String(major) });
    await asAdmin(cluster, (admin) => admin.unsafe(crowd));
    await askForUsers(cluster);
    await untilReported(cluster);
    expect((await read(cluster)).meta.last_error).toStartWith("98001 users are left out");
    const beside = await victim.wakes(() => askForUsers(cluster));
    await new Sleeper(pilvi, cluster).sleep();
    const asleep = await victim.wakes();
    await wake(cluster);
    await pilvi.api("DELETE", `/databases/clusters/${cluster.id}`);
    await victim.expectUnharmed(before, beside, asleep);
  });
});

test("Pilvi starts although an earlier release left a manifest of 220 MB", async () => {
  const before = await victim.wakes();
  const cluster = await createCluster(pilvi, { name: "left-behind" });
  await new Sleeper(pilvi, cluster).sleep();
  await pilvi.stop();
  const path = join(pilvi.dataDir, "instances", cluster.id, "manifest.json");
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  const { usersLeftOut: _, ...sleep } = manifest.sleep;
  const large = Array.from({ length: 14 }, (__, n) => ({
    name: `large${n}`,
    verifier: "x".repeat(15_700_000),
  }));
  const { lastWake, wakes, ...others } = sleep;
  const users = [...large, ...sleep.users];
  writeFileSync(path, JSON.stringify({ ...manifest, sleep: { ...others, users, lastWake, wakes } }));
  await pilvi.start();
  await pilvi.untilReady();
  await untilReported(cluster);
  const beside = await victim.wakes(() => askForUsers(cluster));
  await wake(cluster);
  await victim.expectUnharmed(before, beside);
  expect(readFileSync(path).length).toBeLessThan(1024 ** 2);
});
