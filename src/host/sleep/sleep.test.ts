// Sleep and wake of real engines, with a gateway that the test plays.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import type { Host } from "../host.ts";
import { instanceFolder } from "../os/layout.ts";
import { readManifest, writeManifest, type Manifest } from "../manifest/manifest.ts";
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

/** Starts another host in place of the first, as after a kill, and connects the gateway to it. */
async function nextHost(): Promise<void> {
  gateway.close();
  host = await hosts.start();
  gateway = await hosts.gateway();
}

async function edit(id: string, change: Partial<Manifest>): Promise<void> {
  const { manifest: path } = instanceFolder(hosts.dataDir, id);
  const manifest = readManifest(path);
  if (manifest === null) throw new Error("there is no manifest");
  await writeManifest(path, { ...manifest, ...change });
}

/** Whether the engine itself, rather than the host on behalf of the gateway, listens at the port. */
function engineListens(id: string, port: number | null): boolean {
  const at = `:${(port ?? 0).toString(16).toUpperCase().padStart(4, "0")} 00000000:0000 0A `;
  const lines = readFileSync("/proc/net/tcp", "utf8").split("\n");
  const listening = lines.filter((line) => line.includes(at));
  const sockets = new Set(listening.map((line) => `socket:[${line.trim().split(/\s+/)[9]}]`));
  return hosts.pidsOf(id).some((pid) => openFilesOf(pid).some((file) => sockets.has(file)));
}

function openFilesOf(pid: number): string[] {
  const paths = readdirSync(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`);
  return paths
    .filter((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined)
    .map((path) => readlinkSync(path));
}

describe.each(["cache", "postgres", "mysql"] as const)("of a %s", (kind) => {
  test("an idle instance falls asleep, and fifty wake requests start it once", async () => {
    const spec = sleepySpec(kind);
    const { id } = spec;
    expect(await host.ensure(spec)).toMatchObject({ state: "running", sleep: { state: "awake", wakes: 0 } });
    const entry = await gateway.until(id, "running");
    expect(entry).toMatchObject({ port: spec.exposure.port, address: "127.0.0.1", sleepAfterSeconds: 60 });
    expect(entry.users).toEqual(spec.users);
    expect(engineListens(id, spec.exposure.port)).toBe(false);
    gateway.send({ type: "idle", id });
    await gateway.until(id, "asleep");
    expect(hosts.pidsOf(id)).toEqual([]);
    expect(host.observe(id)).toMatchObject({ state: "asleep", sleep: { state: "asleep", lastWake: null } });
    for (let count = 0; count < 50; count += 1) gateway.send({ type: "wake", id, reason: REASON });
    const woken = await gateway.until(id, "running");
    expect(woken.latestStart?.readyMs).toBeGreaterThan(0);
    expect(woken.users).toEqual(entry.users);
    expect(gateway.statesOf(id).slice(-5)).toEqual(["running", "draining", "asleep", "starting", "running"]);
    expect(host.observe(id)).toMatchObject({ crashes: 0, sleep: { state: "awake", wakes: 1 } });
    const spansMs = { accept: 1, auth: 2, start: 3, ready: 4, login: 5 };
    const at = new Date().toISOString();
    gateway.send({ type: "woken", id, wake: { at, reason: REASON, spansMs } });
    await until("the wake is kept", () => host.observe(id).sleep?.lastWake !== null);
    expect(host.observe(id).sleep?.lastWake).toEqual({ at, reason: REASON, spansMs });
  });

  test("a sleeping instance stays asleep under the next host, and an awake instance stays awake", async () => {
    const [asleep, awake] = [sleepySpec(kind), sleepySpec(kind)];
    await Promise.all([host.ensure(asleep), host.ensure(awake)]);
    await host.suspend(asleep.id);
    const pids = hosts.pidsOf(awake.id);
    await nextHost();
    expect(host.observe(asleep.id)).toMatchObject({ state: "asleep" });
    expect(gateway.entries.get(asleep.id)).toMatchObject({ state: "asleep", users: asleep.users });
    await gateway.until(awake.id, "running");
    expect(hosts.pidsOf(asleep.id)).toEqual([]);
    expect(hosts.pidsOf(awake.id)).toEqual(pids);
    expect(await host.ensure(asleep)).toMatchObject({
      state: "asleep",
      engine: { version: expect.any(String) },
    });
    await gateway.wake(asleep.id);
    expect(await host.suspend(awake.id)).toMatchObject({ state: "asleep" });
  });

  test("a suspension that a killed host recorded is finished by the next host", async () => {
    const spec = sleepySpec(kind);
    await host.ensure(spec);
    const sleep = {
      since: new Date().toISOString(),
      users: spec.users,
      usersLeftOut: 0,
      lastWake: null,
      wakes: 3,
    };
    await edit(spec.id, { state: "asleep", sleep });
    await nextHost();
    await gateway.until(spec.id, "asleep");
    expect(hosts.pidsOf(spec.id)).toEqual([]);
    expect(host.observe(spec.id).sleep).toMatchObject({ state: "asleep", wakes: 3 });
  });

  test("a sleeping instance can be removed", async () => {
    const spec = sleepySpec(kind);
    await host.ensure(spec);
    await host.suspend(spec.id);
    await host.remove(spec.id);
    expect(host.observe(spec.id).state).toBe("absent");
    expect(gateway.entries.has(spec.id)).toBe(false);
  });
});

test.each(["noeviction", "allkeys-lru"])(
  "keys and their ends survive the sleep of a cache with %s",
  async (policy) => {
    const spec = sleepySpec("cache", { evictionPolicy: policy });
    await host.ensure(spec);
    const client = customerCache(await gateway.until(spec.id, "running"));
    await client.set("kept", "value");
    await client.send("SET", ["ends", "value", "EX", "1000"]);
    const endsAt = Number(await client.send("PEXPIRETIME", ["ends"]));
    await client.send("SET", ["ended", "value", "PX", "1"]);
    client.close();
    await host.suspend(spec.id);
    const again = customerCache(await gateway.wake(spec.id));
    expect(await again.get("kept")).toBe("value");
    expect(Number(await again.send("PEXPIRETIME", ["ends"]))).toBe(endsAt);
    expect(await again.get("ended")).toBeNull();
    again.close();
  },
);

describe("a new spec for a sleeping Postgres", () => {
  test("with another password reaches the gateway at once and the engine at its wake", async () => {
    const spec = sleepySpec("postgres");
    await host.ensure(spec);
    await host.suspend(spec.id);
    const users = [{ name: "app", verifier: sleepySpec("postgres").users[0]?.verifier ?? "" }];
    expect(await host.ensure({ ...spec, users } as typeof spec)).toMatchObject({ state: "asleep" });
    expect(gateway.entries.get(spec.id)).toMatchObject({ state: "asleep", users });
    await gateway.wake(spec.id);
    gateway.send({ type: "users", id: spec.id, question: 1 });
    await until("the engine's own users are sent", () => gateway.received.at(-1)?.type === "entry");
    expect(gateway.entries.get(spec.id)?.users).toEqual(users);
  });

  test("with another database wakes it", async () => {
    const spec = sleepySpec("postgres");
    if (spec.kind !== "postgres") throw new Error("not a Postgres");
    await host.ensure(spec);
    await host.suspend(spec.id);
    const databases = [...spec.databases, { name: "more", owner: "app", desiredState: "present" as const }];
    const seen = await host.ensure({ ...spec, databases });
    expect(seen).toMatchObject({
      state: "running",
      sleep: { wakes: 1, lastWake: { reason: { user: "pilvi" } } },
    });
    const db = customerDatabase("postgres", await gateway.until(spec.id, "running"), "more");
    expect([...(await db`select 1 as one`)]).toEqual([{ one: 1 }]);
    await db.close();
  });
});

test("roles that customers make stay known during the sleep, and when the gateway asks", async () => {
  const spec = sleepySpec("postgres");
  await host.ensure(spec);
  const db = customerDatabase("postgres", await gateway.until(spec.id, "running"));
  await db.unsafe("create role reporter login password 'moi'");
  gateway.send({ type: "users", id: spec.id, question: 1 });
  const namesOf = () => gateway.entries.get(spec.id)?.users.map(({ name }) => name);
  await until("the role is sent", () => namesOf()?.includes("reporter") === true);
  await db.unsafe("create role writer login password 'moi'");
  await db.close();
  await host.suspend(spec.id);
  await gateway.until(spec.id, "asleep");
  expect(namesOf()).toEqual(["app", "reporter", "writer"]);
  await nextHost();
  expect(namesOf()).toEqual(["app", "reporter", "writer"]);
});

test("a cache changes between direct and proxied exposure at a stop only", async () => {
  const spec = sleepySpec("cache");
  const own = { ...spec, exposure: { ...spec.exposure, through: "engine" as const } };
  const port = spec.exposure.port ?? 0;
  await host.ensure(own);
  expect(gateway.entries.has(spec.id)).toBe(false);
  const pids = hosts.pidsOf(spec.id);
  expect(await host.ensure(spec)).toMatchObject({ state: "running", sleep: null });
  expect(hosts.pidsOf(spec.id)).toEqual(pids);
  expect(await host.suspend(spec.id)).toMatchObject({ state: "asleep", sleep: { state: "asleep" } });
  expect(engineListens(spec.id, port)).toBe(false);
  await gateway.wake(spec.id);
  expect(engineListens(spec.id, port)).toBe(false);
  const behind = hosts.pidsOf(spec.id);
  expect(await host.ensure(own)).toMatchObject({ state: "running", sleep: { state: "awake" } });
  expect(hosts.pidsOf(spec.id)).toEqual(behind);
  await host.ensure(spec);
  await host.suspend(spec.id);
  // A sleeping cache that is to listen by itself starts at once.
  expect(await host.ensure(own)).toMatchObject({ state: "running", sleep: null });
  expect(engineListens(spec.id, port)).toBe(true);
  expect(gateway.received.some((each) => each.type === "gone" && each.id === spec.id)).toBe(true);
});

test("an idle cache that listens by itself is handed over to the gateway", async () => {
  const spec = sleepySpec("cache", { sleepAfterSeconds: 1 });
  await host.ensure({ ...spec, exposure: { ...spec.exposure, through: "engine" } });
  await host.ensure(spec);
  await gateway.until(spec.id, "asleep");
  expect(host.observe(spec.id)).toMatchObject({ state: "asleep" });
});

test("the owner learns why a cache that listens by itself is never found idle", async () => {
  const spec = sleepySpec("cache", { sleepAfterSeconds: 1 });
  const { id } = spec;
  await host.ensure({ ...spec, exposure: { ...spec.exposure, through: "engine" } });
  const url = `redis://default:moi@127.0.0.1:${spec.exposure.port}`;
  const client = new Bun.RedisClient(url, { autoReconnect: false });
  await client.send("CLIENT", ["SETNAME", "x".repeat(17 * 1024 ** 2)]);
  await host.ensure(spec);
  await until("the reason is shown", () => host.observe(id).lastError !== null);
  expect(host.observe(id)).toMatchObject({
    state: "running",
    lastError:
      "The names that the cache's clients gave themselves are too long, so its users cannot be named.",
  });
  client.close();
  await gateway.until(id, "asleep");
  expect(host.observe(id)).toMatchObject({ state: "asleep", lastError: null });
});
