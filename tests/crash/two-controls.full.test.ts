// Two control planes on one store: each resource has one owner at a time, and when one control plane dies the other
// goes on.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Database } from "../../src/store/database.ts";
import {
  cacheBody,
  Failpoints,
  startPilvi,
  TestPilvi,
  until,
  type CacheDocument,
} from "../support/pilvi/pilvi.ts";
import { freePort } from "../support/pilvi/ports.ts";
import { expectExactly, openStore } from "./inspection.ts";

const failpoints = new Failpoints();
let first: TestPilvi;
/** Only the address of the second control plane; the host and the engines belong to the first. */
let second: TestPilvi;
let control: Bun.Subprocess;
let store: Database;

beforeAll(async () => {
  first = await startPilvi({ env: failpoints.env });
  store = await openStore(first);
  second = new TestPilvi(first.dataDir, freePort(), failpoints.env);
  control = startSecond();
  await second.untilReady();
});

afterAll(async () => {
  failpoints.release();
  control.kill("SIGKILL");
  await control.exited;
  await store.close();
  await first.close();
  failpoints.close();
});

function startSecond(): Bun.Subprocess {
  return Bun.spawn([...first.builtProgram(), "control"], {
    env: second.env,
    stdio: ["ignore", "ignore", "ignore"],
  });
}

async function post(through: TestPilvi, key: string): Promise<string> {
  const answer = await through.api<CacheDocument>("POST", "/caches", cacheBody(), { "idempotency-key": key });
  expect(answer.status).toBe(201);
  return answer.body.data.id;
}

test("creates and deletes through both make one engine each", async () => {
  const ids = await Promise.all(
    Array.from({ length: 20 }, (_, index) => post(index % 2 === 0 ? first : second, randomUUID())),
  );
  await Promise.all(ids.map((id, index) => (index % 3 === 0 ? first : second).untilStatus(id, "available")));
  await expectExactly(first, store, ids);
  const logOf = (id: string) => readFileSync(join(first.dataDir, "instances", id, "engine.log"), "utf8");
  const startedTwice = ids.filter((id) => logOf(id).match(/^# pilvi \S+Z .* starts$/gm)?.length !== 1);
  expect(startedTwice).toEqual([]);
  await Promise.all(ids.map((id) => Promise.all([first.deleteCache(id), second.deleteCache(id)])));
  await expectExactly(first, store, []);
});

test("the same idempotency key at the same time through both makes one cache", async () => {
  const keys = Array.from({ length: 10 }, () => randomUUID());
  const ids = await Promise.all(
    keys.map(async (key) => {
      const made = await Promise.all([
        post(first, key),
        post(second, key),
        post(first, key),
        post(second, key),
      ]);
      expect(new Set(made).size).toBe(1);
      return made[0] ?? "";
    }),
  );
  await Promise.all(ids.map((id) => second.untilStatus(id, "available")));
  await expectExactly(first, store, ids);
  await Promise.all(ids.map((id) => second.deleteCache(id)));
});

test.each(["reconcile.ensured", "loop.taken", "loop.reconciled"])(
  "when one is killed at %s, the other takes over",
  async (place) => {
    const other = await first.untilPid("control");
    failpoints.arm(place);
    // While the first control plane is stopped, only the second can claim the work item.
    process.kill(other, "SIGSTOP");
    const id = await post(second, randomUUID());
    expect(await failpoints.reached()).toBe(control.pid);
    control.kill("SIGKILL");
    failpoints.release();
    process.kill(other, "SIGCONT");
    await first.untilStatus(id, "available");
    await expectExactly(first, store, [id]);
    await first.deleteCache(id);
    control = startSecond();
    await second.untilReady();
  },
);

test("a create that was stopped for longer than its lease does not harm what the other control plane made of it", async () => {
  const other = await first.untilPid("control");
  failpoints.arm("reconcile.ensured");
  process.kill(other, "SIGSTOP");
  const id = await post(second, randomUUID());
  await failpoints.reached();
  process.kill(control.pid, "SIGSTOP");
  process.kill(other, "SIGCONT");
  await store`update work set lease_until = now() - interval '1 second' where id = ${id}`;
  await first.untilStatus(id, "available");
  await first.deleteCache(id);
  failpoints.release();
  process.kill(control.pid, "SIGCONT");
  await second.untilReady();
  await until("nothing is left", async () => (await second.api("GET", `/caches/${id}`)).status === 404);
  await expectExactly(first, store, []);
});
