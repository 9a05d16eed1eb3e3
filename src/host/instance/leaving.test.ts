// An instance that is removed, stopped or let go while another request waits or its engine is busy.
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import type { Host } from "../host.ts";
import { instanceFolder } from "../os/layout.ts";
import { lockHolders } from "../os/locks.ts";
import { readManifest } from "../manifest/manifest.ts";
import { Runner } from "../engine/runner.ts";
import { StartLimiter } from "../engine/start-limiter.ts";
import { WarmPool } from "../provisioning/warm-pool.ts";
import { createLog } from "../../lib/log.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import { customerDatabase, sleepySpec, TestHosts, type TestGateway } from "../test-support.ts";

let hosts: TestHosts;
let host: Host;
let gateway: TestGateway;

beforeEach(async () => {
  hosts = new TestHosts();
  host = await hosts.start();
  gateway = await hosts.gateway();
});

afterEach(() => hosts.close());

test("a suspension that was requested before the host leaves does not happen", async () => {
  const spec = sleepySpec("cache");
  await host.ensure(spec);
  const pids = hosts.pidsOf(spec.id);
  const suspended = host.suspend(spec.id).catch((error: Error) => error.message);
  host.release();
  expect(await suspended).toBe(`${spec.id} is being stopped.`);
  expect(hosts.pidsOf(spec.id)).toEqual(pids);
});

test("an instance that is removed gives up its wait for a start", async () => {
  const waiting = Promise.withResolvers<void>();
  const limiter = spyOn(StartLimiter.prototype, "enter").mockImplementation(({ signal }) => {
    waiting.resolve();
    return unlessAborted(new Promise(() => {}), signal);
  });
  const spec = sleepySpec("cache");
  const ensured = host.ensure(spec);
  await waiting.promise;
  await host.remove(spec.id);
  limiter.mockRestore();
  expect(await ensured).toMatchObject({ lastError: null });
  expect(host.observe(spec.id).state).toBe("absent");
});

test("an engine is not stopped for a suspension after its host has let go of it", async () => {
  const spec = sleepySpec("cache");
  await host.ensure(spec);
  const folder = instanceFolder(hosts.dataDir, spec.id);
  const manifest = readManifest(folder.manifest);
  if (manifest === null) throw new Error("there is no manifest");
  const journal = { started() {}, ended() {}, found() {}, noteOomKills: (kills: number) => kills };
  const parts = {
    id: spec.id,
    settings: hosts.settings,
    slots: new WarmPool(hosts.dataDir, 0, createLog("host", "silent")),
    origin: { build: () => Promise.reject(new Error("there is no origin")) },
    folder,
    file: { manifest },
    log: createLog("host", "silent"),
    leaving: AbortSignal.abort(),
    onEnded: () => {},
  };
  const runner = new Runner(parts, journal);
  runner.find(lockHolders());
  const { process } = runner;
  if (process === null) throw new Error("there is no engine");
  const ended = runner.end(await runner.choose(manifest), process).catch((error: Error) => error.message);
  expect(await ended).toBe("The engine is being stopped.");
  expect(hosts.pidsOf(spec.id)).toEqual([process.pid]);
});

test("a removal does not wait for a command that waits for a customer's lock", async () => {
  const spec = sleepySpec("postgres");
  await host.ensure(spec);
  const db = customerDatabase("postgres", await gateway.until(spec.id, "running"));
  const opened = Promise.withResolvers<void>();
  const held = db.begin(async (tx) => {
    await tx.unsafe("alter role app password 'moi'");
    opened.resolve();
    await new Promise(() => {});
  });
  held.catch(() => undefined);
  await opened.promise;
  const watcher = customerDatabase("postgres", await gateway.until(spec.id, "running"));
  const { users } = sleepySpec("postgres");
  const ensured = host.ensure({ ...spec, users } as typeof spec).catch(() => null);
  await until("the host waits for the customer", async () => {
    const [row] = await watcher.unsafe("select count(*)::int as waiting from pg_locks where not granted");
    return row.waiting > 0;
  });
  await host.remove(spec.id);
  await ensured;
  expect(host.observe(spec.id).state).toBe("absent");
  expect(hosts.pidsOf(spec.id)).toEqual([]);
  await Promise.all([db, watcher].map((each) => each.close().catch(() => undefined)));
});
