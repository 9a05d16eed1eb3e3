// Full disks and engines that cannot be stopped: the engine serves on, and the change follows later.
import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failpoints, until } from "../../../tests/support/pilvi/pilvi.ts";
import { fill, mountSmallDisk } from "../../../tests/support/pilvi/small-disk.ts";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import { PublicError } from "../../lib/errors.ts";
import type { Host } from "../host.ts";
import { instanceFolder } from "../os/layout.ts";
import { readManifest, writeManifest } from "../manifest/manifest.ts";
import { reasonOf } from "./failure-handler.ts";
import { customerCache, REASON, sleepySpec, TestHosts, type TestGateway } from "../test-support.ts";

const UNSAVED = "The data could not be saved, so the change is not in force yet.";

let hosts: TestHosts;
let host: Host;
let gateway: TestGateway;
const failpoints = new Failpoints();

beforeEach(async () => {
  Object.assign(globalThis, { PILVI_FAILPOINTS: true });
  Object.assign(process.env, failpoints.env);
  hosts = new TestHosts();
  host = await hosts.start();
  gateway = await hosts.gateway();
});

afterEach(async () => {
  failpoints.release();
  Object.assign(globalThis, { PILVI_FAILPOINTS: false });
  await hosts.close();
});

afterAll(() => {
  delete process.env.PILVI_FAILPOINT_DIR;
  failpoints.close();
});

/** Makes every write of the manifest fail until the returned function is called. */
function blockManifest(id: string): () => void {
  const inTheWay = `${instanceFolder(hosts.dataDir, id).manifest}.tmp`;
  mkdirSync(inTheWay);
  writeFileSync(join(inTheWay, "file"), "");
  return () => rmSync(inTheWay, { recursive: true });
}

function messageOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "",
    (error: Error) => error.message,
  );
}

function configOf(id: string): string {
  return readFileSync(join(instanceFolder(hosts.dataDir, id).conf, "engine.conf"), "utf8");
}

/** A cache with one key, which keeps its keys in memory only until it ends. */
async function cacheWithKey(overrides: object = {}): Promise<InstanceSpec> {
  const spec = sleepySpec("cache", { evictionPolicy: "allkeys-lru", ...overrides });
  await host.ensure(spec);
  const client = customerCache(await gateway.until(spec.id, "running"));
  await client.set("key", "value");
  client.close();
  return spec;
}

async function keyOf(id: string): Promise<string | null> {
  const client = customerCache(await gateway.until(id, "running"));
  try {
    return await client.get("key");
  } finally {
    client.close();
  }
}

test("the public reason of a failure names a full disk, and hides other internal errors", () => {
  expect(reasonOf(Object.assign(new Error("x"), { code: "ENOSPC" }), "y")).toBe(
    "The disk of the host is full.",
  );
  expect(reasonOf(new Error("x"), "y")).toBe("y");
  expect(reasonOf(new PublicError("x"), "y")).toBe("x");
});

test("a cache that cannot save is not stopped for a change, not even by the next host, until it can save", async () => {
  const spec = await cacheWithKey();
  const { data } = instanceFolder(hosts.dataDir, spec.id);
  const pids = hosts.pidsOf(spec.id);
  const changed = { ...spec, memoryBytes: 32 * 1024 ** 2 } as InstanceSpec;
  chmodSync(data, 0o555);
  expect(await messageOf(host.ensure(changed))).toBe(UNSAVED);
  expect(await messageOf(host.ensure(changed))).toBe(UNSAVED);
  expect(host.observe(spec.id)).toMatchObject({ state: "running", crashes: 0, lastError: UNSAVED });
  expect(await keyOf(spec.id)).toBe("value");
  gateway.close();
  host = await hosts.start();
  gateway = await hosts.gateway();
  await until("it is seen to run", () => host.observe(spec.id).state === "running");
  expect(await messageOf(host.ensure(changed))).toBe(UNSAVED);
  expect(hosts.pidsOf(spec.id)).toEqual(pids);
  chmodSync(data, 0o700);
  await until("the change is in force", () => host.observe(spec.id).lastError === null);
  expect(await host.ensure(changed)).toMatchObject({ state: "running", crashes: 0 });
  expect(hosts.pidsOf(spec.id)).not.toEqual(pids);
  expect(configOf(spec.id)).toContain(`maxmemory ${32 * 1024 ** 2}\n`);
  expect(await keyOf(spec.id)).toBe("value");
});

// Only root may mount.
test.skipIf(process.getuid?.() !== 0)(
  "a cache that would end without having saved is not ended for a change either",
  async () => {
    const spec = await cacheWithKey({ evictionPolicy: "noeviction" });
    await host.suspend(spec.id);
    const folder = join(instanceFolder(hosts.dataDir, spec.id).data, "appendonlydir");
    const unmount = mountSmallDisk(folder);
    try {
      const client = customerCache(await gateway.wake(spec.id));
      const filler = fill(folder);
      // The last block of the file may still have room for a write.
      expect(await client.set("key", "x".repeat(10_000))).toBe("OK");
      client.close();
      const pids = hosts.pidsOf(spec.id);
      const changed = { ...spec, memoryBytes: 32 * 1024 ** 2 } as InstanceSpec;
      expect(await messageOf(host.ensure(changed))).toBe(UNSAVED);
      expect(hosts.pidsOf(spec.id)).toEqual(pids);
      rmSync(filler);
      await until("the change is in force", () => host.observe(spec.id).lastError === null);
      expect(configOf(spec.id)).toContain(`maxmemory ${32 * 1024 ** 2}\n`);
      expect(await keyOf(spec.id)).toHaveLength(10_000);
    } finally {
      await host.remove(spec.id).catch(() => undefined);
      unmount();
    }
  },
);

/** A cache with direct exposure that is to change to the gateway at its next stop. */
async function cacheToHandOver(): Promise<InstanceSpec> {
  const spec = sleepySpec("cache");
  await host.ensure({ ...spec, exposure: { ...spec.exposure, through: "engine" } });
  await host.ensure(spec);
  return spec;
}

test("a hand-over that cannot be recorded leaves the engine running", async () => {
  const spec = await cacheToHandOver();
  const pids = hosts.pidsOf(spec.id);
  const unblock = blockManifest(spec.id);
  expect(await messageOf(host.suspend(spec.id))).toBe("The host could not put it to sleep.");
  expect(host.observe(spec.id)).toMatchObject({ state: "running", crashes: 0 });
  expect(hosts.pidsOf(spec.id)).toEqual(pids);
  unblock();
  expect(await host.suspend(spec.id)).toMatchObject({ state: "asleep" });
});

test("an engine that ended for a hand-over that cannot be recorded is started again", async () => {
  const spec = await cacheToHandOver();
  failpoints.arm("host.suspend.ended");
  const suspended = messageOf(host.suspend(spec.id));
  await failpoints.reached();
  const unblock = blockManifest(spec.id);
  failpoints.release();
  expect(await suspended).toBe("The host could not put it to sleep.");
  expect(host.observe(spec.id).state).not.toBe("running");
  unblock();
  await until("it runs", () => host.observe(spec.id).state === "running");
  expect(hosts.pidsOf(spec.id)).not.toEqual([]);
});

test("a suspension completes although its last record cannot be written", async () => {
  const spec = await cacheWithKey();
  failpoints.arm("host.suspend.ended");
  const suspended = host.suspend(spec.id);
  await failpoints.reached();
  const unblock = blockManifest(spec.id);
  failpoints.release();
  expect(await suspended).toMatchObject({ state: "asleep" });
  unblock();
  await gateway.wake(spec.id);
  expect(await keyOf(spec.id)).toBe("value");
});

test("a wake that cannot be recorded is tried again without another request", async () => {
  const spec = await cacheWithKey();
  await host.suspend(spec.id);
  const unblock = blockManifest(spec.id);
  gateway.send({ type: "wake", id: spec.id, reason: REASON });
  await gateway.until(spec.id, "failed");
  unblock();
  expect(await keyOf(spec.id)).toBe("value");
});

test("a running engine whose suspension was recorded is served again once its manifest can be written", async () => {
  const spec = await cacheWithKey();
  const { manifest: path } = instanceFolder(hosts.dataDir, spec.id);
  const manifest = readManifest(path);
  if (manifest === null) throw new Error("there is no manifest");
  await writeManifest(path, { ...manifest, state: "asleep" });
  const unblock = blockManifest(spec.id);
  gateway.close();
  host = await hosts.start();
  gateway = await hosts.gateway();
  await gateway.until(spec.id, "failed");
  unblock();
  expect(await keyOf(spec.id)).toBe("value");
});

test("a wake report that cannot be recorded does not end the connection to the gateway", async () => {
  const spec = await cacheWithKey();
  const unblock = blockManifest(spec.id);
  const at = new Date().toISOString();
  const spansMs = { accept: 1, auth: 2, start: 3, ready: 4, login: 5 };
  gateway.send({ type: "woken", id: spec.id, wake: { at, reason: REASON, spansMs } });
  const received = gateway.received.length;
  gateway.send({ type: "users", id: spec.id, question: 1 });
  await until("the host answers", () => gateway.received.length > received);
  expect(gateway.isConnected).toBe(true);
  unblock();
});

test("a start for a new spec succeeds although its duration cannot be recorded", async () => {
  const spec = await cacheWithKey();
  await host.suspend(spec.id);
  failpoints.arm("host.ensure.ready");
  const own = { ...spec, exposure: { ...spec.exposure, through: "engine" as const } };
  const ensured = host.ensure(own);
  await failpoints.reached();
  const unblock = blockManifest(spec.id);
  failpoints.release();
  expect(await ensured).toMatchObject({ state: "running", lastError: null });
  unblock();
});
