// What keeps an instance from falling asleep, and how it goes on: real engines, and a gateway that the test plays.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import type { Host } from "../host.ts";
import { instanceFolder } from "../os/layout.ts";
import {
  customerCache,
  customerDatabase,
  REASON,
  sleepySpec,
  TestHosts,
  type TestGateway,
} from "../test-support.ts";

let hosts: TestHosts;
let host: Host;
let gateway: TestGateway;

beforeEach(async () => {
  hosts = new TestHosts();
  host = await hosts.start();
  gateway = await hosts.gateway();
});

afterEach(() => hosts.close());

/** The reason of a refused suspension; empty when it succeeded. */
function reasonOf(suspended: Promise<unknown>): Promise<string> {
  return suspended.then(
    () => "",
    (error: Error) => error.message,
  );
}

test("activity in the gateway keeps an instance awake", async () => {
  const spec = sleepySpec("cache");
  await host.ensure(spec);
  gateway.drainAnswer = "busy";
  gateway.send({ type: "idle", id: spec.id });
  const pids = hosts.pidsOf(spec.id);
  const states = () => gateway.statesOf(spec.id).slice(-3).join(" ");
  await until("it goes on", () => states() === "running draining running");
  expect(hosts.pidsOf(spec.id)).toEqual(pids);
});

test("a client that connects during the drain keeps an instance awake", async () => {
  const spec = sleepySpec("cache");
  await host.ensure(spec);
  gateway.drainAnswer = null;
  const suspended = host.suspend(spec.id).catch((error: Error) => error.message);
  await gateway.until(spec.id, "draining");
  const pids = hosts.pidsOf(spec.id);
  await gateway.wake(spec.id);
  expect(await suspended).toBe("A client came back.");
  expect(hosts.pidsOf(spec.id)).toEqual(pids);
  expect(host.observe(spec.id)).toMatchObject({ state: "running", sleep: { state: "awake", wakes: 0 } });
});

test("a requested suspension completes, and a client that asks at its disconnection wakes the instance afterwards", async () => {
  const spec = sleepySpec("cache");
  await host.ensure(spec);
  gateway.onDetach = () => gateway.send({ type: "wake", id: spec.id, reason: REASON });
  await host.suspend(spec.id);
  await gateway.until(spec.id, "running");
  expect(gateway.statesOf(spec.id).slice(-4)).toEqual(["draining", "asleep", "starting", "running"]);
  expect(host.observe(spec.id)).toMatchObject({ sleep: { state: "awake", wakes: 1 } });
});

test("a client that asks at its disconnection ends the suspension of an idle instance", async () => {
  const spec = sleepySpec("cache");
  await host.ensure(spec);
  const pids = hosts.pidsOf(spec.id);
  gateway.onDetach = () => gateway.send({ type: "wake", id: spec.id, reason: REASON });
  gateway.send({ type: "idle", id: spec.id });
  const states = () => gateway.statesOf(spec.id).slice(-3).join(" ");
  await until("it goes on", () => states() === "running draining running");
  expect(hosts.pidsOf(spec.id)).toEqual(pids);
});

test("a cache stays awake for clients that its stop would cost a subscription, a transaction or a blocking command", async () => {
  const ties: [string, (cache: Bun.RedisClient) => Promise<unknown>][] = [
    ["waits in a blocking command", (cache) => cache.send("BLPOP", ["list", "0"])],
    ["is subscribed to channels", (cache) => cache.subscribe("news", () => {})],
    ["is in the middle of a transaction", (cache) => cache.send("MULTI", [])],
  ];
  const keepsAwake = async ([what, tie]: (typeof ties)[number]) => {
    const spec = sleepySpec("cache");
    await host.ensure(spec);
    const client = customerCache(await gateway.until(spec.id, "running"));
    await client.connect();
    // A blocking command gets no answer.
    tie(client).catch(() => undefined);
    const reasons: string[] = [];
    await until(`the reason is shown: ${what}`, async () => {
      reasons.push(await reasonOf(host.suspend(spec.id)));
      return reasons.at(-1)?.includes(what) === true;
    });
    expect(reasons.at(-1)).toContain('"default"');
    expect(gateway.statesOf(spec.id)).not.toContain("asleep");
    client.close();
    expect(await host.suspend(spec.id)).toMatchObject({ state: "asleep" });
  };
  await Promise.all(ties.map(keepsAwake));
});

test.each(["postgres", "mysql"] as const)(
  "a transaction keeps a %s awake, but no session that waits",
  async (kind) => {
    const spec = sleepySpec(kind);
    await host.ensure(spec);
    const db = customerDatabase(kind, await gateway.until(spec.id, "running"));
    await db.unsafe("create table t (a int)");
    await db.begin(async (tx) => {
      await tx.unsafe("insert into t values (1)");
      const refused = await host.suspend(spec.id).catch((error: Error) => error.message);
      expect(refused).toContain("is in the middle of a transaction");
      expect(refused).toContain('"app"');
    });
    expect(await host.suspend(spec.id)).toMatchObject({ state: "asleep" });
    await db.close().catch(() => undefined);
    const again = customerDatabase(kind, await gateway.wake(spec.id));
    expect([...(await again.unsafe("select a from t"))]).toEqual([{ a: 1 }]);
    await again.close();
  },
);

test("a cache that cannot save its data stays awake", async () => {
  const spec = sleepySpec("cache", { evictionPolicy: "allkeys-lru" });
  await host.ensure(spec);
  const client = customerCache(await gateway.until(spec.id, "running"));
  await client.set("key", "value");
  client.close();
  const { data } = instanceFolder(hosts.dataDir, spec.id);
  chmodSync(data, 0o555);
  const pids = hosts.pidsOf(spec.id);
  expect(await host.suspend(spec.id).catch((error: Error) => error.message)).toContain("could not be saved");
  expect(host.observe(spec.id)).toMatchObject({ state: "running", crashes: 0 });
  expect(host.observe(spec.id).lastError).toContain("could not be saved");
  expect(hosts.pidsOf(spec.id)).toEqual(pids);
  chmodSync(data, 0o700);
  expect(await host.suspend(spec.id)).toMatchObject({ state: "asleep", lastError: null });
  const again = customerCache(await gateway.wake(spec.id));
  expect(await again.get("key")).toBe("value");
  again.close();
});

test("an instance that listens by itself and an unknown instance cannot be suspended", async () => {
  const spec = sleepySpec("cache");
  const exposure = { ...spec.exposure, through: "engine" as const };
  await host.ensure({ ...spec, exposure });
  await expect(host.suspend(spec.id)).rejects.toThrow("listens by itself");
  await expect(host.suspend("cache-none")).rejects.toThrow("does not run");
});
