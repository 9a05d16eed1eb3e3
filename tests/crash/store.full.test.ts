// The store's Postgres is killed, and host and control plane at once, while customers create and delete.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "../../src/store/database.ts";
import { Failpoints, startPilvi, type TestPilvi, until } from "../support/pilvi/pilvi.ts";
import { killIfThere } from "../support/pilvi/processes.ts";
import { Chaos } from "./chaos.ts";
import { Connection } from "./connection.ts";
import { expectExactly, openStore } from "./inspection.ts";

const failpoints = new Failpoints();
let pilvi: TestPilvi;
let store: Database;

beforeAll(async () => {
  pilvi = await startPilvi({ env: failpoints.env });
  store = await openStore(pilvi);
});

afterAll(async () => {
  await store.close();
  await pilvi.close();
  failpoints.close();
});

test("a killed store comes back, and no cache notices", async () => {
  const cache = await pilvi.createCache();
  const connection = await Connection.open(cache);
  await connection.set("kept", "yes");
  const former = pilvi.enginePids("store");
  for (const pid of former) killIfThere(pid);
  expect(await connection.get("kept")).toBe("yes");
  await until("another store runs", () => pilvi.enginePids("store").some((pid) => !former.includes(pid)));
  await pilvi.untilReady();
  expect((await pilvi.untilStatus(cache.id, "available")).id).toBe(cache.id);
  await pilvi.deleteCache(cache.id);
  await expectExactly(pilvi, store, []);
  connection.close();
});

test("a stale pid of the store that another process has now does not prevent its start", async () => {
  const noted = join(pilvi.dataDir, "instances", "store", "data", "postmaster.pid");
  failpoints.arm("host.start.due");
  for (const pid of pilvi.enginePids("store")) killIfThere(pid);
  await failpoints.reached();
  const [, ...lines] = readFileSync(noted, "utf8").split("\n");
  // A process of the same user, as after a restart of the machine or where orphans are not waited for.
  const { uid, gid } = statSync(noted);
  const other = Bun.spawn(["sleep", "60"], process.getuid?.() === 0 ? { uid, gid } : {});
  writeFileSync(noted, [other.pid, ...lines].join("\n"));
  failpoints.release();
  await pilvi.untilReady();
  other.kill();
  await other.exited;
});

test("acknowledged creates and deletes survive kills of the store, and of host and control plane at once", async () => {
  await new Chaos(pilvi, store, { seed: 7458, targets: ["store", "both"], kills: 12 }).run();
});
