// The host with real realtime servers: reconfigured while they run, taken up by the next host, asked for figures.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeCertificate } from "../../tests/support/clients/certificate.ts";
import { freshDataDir, until } from "../../tests/support/pilvi/pilvi.ts";
import { enginePidsAt } from "../../tests/support/pilvi/processes.ts";
import { freePort } from "../../tests/support/pilvi/ports.ts";
import { loadConfig } from "../config.ts";
import type { RealtimeSpec } from "../contracts/instance-spec.ts";
import type { WebSocketApplication } from "../contracts/websocket-application.ts";
import type { Certificate } from "../engines/engine.ts";
import { createLog } from "../lib/log.ts";
import { ensureProgram } from "../processes/program/program.ts";
import { realtimeEngine } from "../processes/program/own-engines.ts";
import type { HostSettings } from "./engine/context.ts";
import { Host } from "./host.ts";
import { ADOPTION_MS, hostSettings } from "./test-support.ts";
import { instanceFolder } from "./os/layout.ts";
import { readManifest } from "./manifest/manifest.ts";

const ID = "ws-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f";
const log = createLog("host", "silent");

let dataDir: string;
let port: number;
let hosts: Host[] = [];
let settings: HostSettings;

beforeEach(() => {
  dataDir = freshDataDir();
  port = freePort();
});

afterEach(async () => {
  // The last host has all engines; the others have let go of theirs.
  await hosts.at(-1)?.close();
  hosts = [];
  rmSync(dataDir, { recursive: true, force: true });
});

async function startHost(): Promise<Host> {
  hosts.at(-1)?.release();
  settings = {
    ...hostSettings({ dataDir, enginesDir: loadConfig(process.env).enginesDir }),
    ownEngines: [realtimeEngine(await ensureProgram(dataDir))],
    adoptionMs: ADOPTION_MS,
  };
  const host = new Host(settings, log);
  hosts.push(host);
  await host.start();
  // Only a test ends minutes: at a full minute, the host itself would read counts that a kill is to take away.
  host.measurements.stop();
  return host;
}

function specOf(...applications: Partial<WebSocketApplication>[]): RealtimeSpec {
  return {
    kind: "realtime",
    id: ID,
    engines: ["realtime"],
    users: [],
    exposure: { port, scope: "public", through: "engine" },
    maxConnections: 100,
    applications: applications.map(applicationOf),
  };
}

function applicationOf(overrides: Partial<WebSocketApplication>, index: number): WebSocketApplication {
  return {
    id: `wsa-${index}`,
    appId: String(10_001 + index),
    key: `key${index}`,
    secrets: [{ secret: "not for others", expiresAt: null }],
    allowedOrigins: [],
    pingIntervalSeconds: 60,
    activityTimeoutSeconds: 30,
    maxMessageBytes: 10_000,
    maxConnections: 100,
    clientEventsEnabled: true,
    subscriptionCountEnabled: false,
    webhooks: [],
    ...overrides,
  };
}

const pids = () => enginePidsAt(instanceFolder(dataDir, ID).path);

/** Whether a single process runs that is not the former. */
function hasOther(former: number): boolean {
  const [pid = former, ...rest] = pids();
  return pid !== former && rest.length === 0;
}

/** Opens a connection of an application; false when the server does not let it in. */
async function connects(key: string): Promise<boolean> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/app/${key}?protocol=7`);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.addEventListener("message", ({ data }) => resolve(String(data).includes("connection_established")));
  socket.addEventListener("close", () => resolve(false));
  try {
    return await promise;
  } finally {
    socket.close();
  }
}

test("a realtime server is offered and runs without an installed engine", async () => {
  const host = await startHost();
  const { engines } = await host.offer();
  expect(engines.filter(({ name }) => name === "realtime")).toHaveLength(1);
  const seen = await host.ensure(specOf({}));
  expect(seen).toMatchObject({ state: "running", lastError: null, engine: { name: "realtime" } });
  expect(seen.limits).toMatchObject({ maxConnections: 100, enforcedBy: "engine" });
  expect(await connects("key0")).toBe(true);
});

async function makePair(): Promise<Certificate> {
  const { cert, key } = await makeCertificate(dataDir);
  return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
}

test("a realtime server that is started again after a crash shows the renewed certificate", async () => {
  const [former, renewed] = [await makePair(), await makePair()];
  const config = join(instanceFolder(dataDir, ID).conf, "realtime.json");
  const written = () => JSON.parse(readFileSync(config, "utf8")).certificate;
  const host = await startHost();
  settings.certificate = former;
  await host.ensure(specOf({}));
  expect(written()).toEqual(former);
  const [pid = 0] = pids();
  settings.certificate = renewed;
  process.kill(pid, "SIGKILL");
  await until("it runs again", () => hasOther(pid) && host.observe(ID).state === "running");
  expect(written()).toEqual(renewed);
});

test("a realtime server takes changes of its spec without a restart", async () => {
  const host = await startHost();
  await host.ensure(specOf({}));
  const before = pids();
  await host.ensure(specOf({ key: "other" }, {}));
  expect(pids()).toEqual(before);
  expect(await connects("key0")).toBe(false);
  expect(await connects("other")).toBe(true);
  expect(await connects("key1")).toBe(true);
});

test("a realtime server is restarted by a host of another version, whose configuration it could not read", async () => {
  await (await startHost()).ensure(specOf({}));
  const [pid = 0] = pids();
  const file = join(instanceFolder(dataDir, ID).conf, "realtime.json");
  const { version: _, ...former } = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify(former));
  const host = await startHost();
  expect(host.observe(ID)).toMatchObject({ state: "running", lastError: null });
  expect(pids()).not.toContain(pid);
  expect(await connects("key0")).toBe(true);
});

test("the secrets of a realtime server are readable for the host only", async () => {
  const host = await startHost();
  await host.ensure(specOf({}));
  const folder = instanceFolder(dataDir, ID);
  expect(statSync(folder.manifest).mode & 0o777).toBe(0o600);
  const files = [folder.log, ...readdirSync(folder.conf).map((name) => join(folder.conf, name))];
  for (const file of files) expect(readFileSync(file, "utf8")).not.toContain("not for others");
});

test("a realtime server is taken up by a host of another build, and restarted by it when it ends", async () => {
  await (await startHost()).ensure(specOf({}));
  const [pid = 0] = pids();
  // The program that it was started from is gone, as after an upgrade.
  const { realtime } = await ensureProgram(dataDir);
  rmSync(realtime);
  const host = await startHost();
  expect(host.observe(ID)).toMatchObject({ state: "running", crashes: 0 });
  expect(pids()).toEqual([pid]);
  rmSync(join(dataDir, "program"), { recursive: true });
  await (await startHost()).ensure(specOf({}, {}));
  expect(await connects("key1")).toBe(true);
  process.kill(pid, "SIGKILL");
  await until("another one runs", () => hasOther(pid));
  await until("it lets clients in", () => connects("key1").catch(() => false));
});

test("a realtime server has figures while it runs", async () => {
  const host = await startHost();
  await host.ensure(specOf({}, {}));
  const figures = await host.reports.figures(ID);
  expect(figures.whole).toMatchObject({ connections: 0 });
  expect(figures.parts.map(({ id }) => id)).toEqual(["wsa-0", "wsa-1"]);
  expect(figures.parts[0]?.figures).toMatchObject({ connections: 0, messagesReceived: 0, messagesSent: 0 });
  await expect(host.reports.figures("ws-none")).rejects.toThrow("does not run");
});

/** The sum of a counter over all readings of an instance or a part. */
function sumOf(host: Host, id: string, name: "messagesSent" | "apiRequests"): number {
  const { batches } = host.measurements.readings(undefined);
  const readings = batches.flatMap((batch) => batch.readings.filter((each) => each.id === id));
  return readings.reduce((sum, reading) => sum + (reading[name] ?? 0), 0);
}

/** Connects so many times; each client gets a message. */
async function greet(times: number, key = "key0"): Promise<void> {
  for (let time = 0; time < times; time += 1) expect(await connects(key)).toBe(true);
}

async function killServer(host: Host): Promise<void> {
  const [killed = 0] = pids();
  process.kill(killed, "SIGKILL");
  await untilOther(host, killed);
}

async function untilOther(host: Host, former: number): Promise<void> {
  await until("another server runs", () => hasOther(former) && host.observe(ID).state === "running");
}

test("messages are counted once over kills of host and server", async () => {
  let host = await startHost();
  await host.ensure(specOf({}, {}));
  const sent = async () => {
    await host.measurements.endMinute();
    return [ID, "wsa-0", "wsa-1"].map((id) => sumOf(host, id, "messagesSent"));
  };
  await greet(3);
  await greet(1, "key1");
  expect(await sent()).toEqual([4, 3, 1]);
  expect(await sent()).toEqual([4, 3, 1]);
  await greet(2);
  host = await startHost();
  await greet(1);
  // The next host counts on from what the host before has read.
  expect(await sent()).toEqual([7, 6, 1]);
  await killServer(host);
  await greet(2);
  expect(await sent()).toEqual([9, 8, 1]);
  await greet(1);
  await killServer(host);
  await greet(1, "key1");
  // The killed server had counted more than was read.
  expect(await sent()).toEqual([11, 9, 2]);
  const killed = pids()[0] ?? 0;
  await greet(1);
  process.kill(killed, "SIGKILL");
  host = await startHost();
  await untilOther(host, killed);
  await greet(1);
  expect(await sent()).toEqual([13, 11, 2]);
  // What a removed application has counted stays in the whole.
  await host.ensure(specOf({}));
  await greet(1);
  expect(await sent()).toEqual([14, 12, 2]);
}, 120_000);

test("a removed realtime server asks its clients not to reconnect", async () => {
  const host = await startHost();
  await host.ensure(specOf({}, {}));
  const sockets = ["key0", "key1"].map(
    (key) => new WebSocket(`ws://127.0.0.1:${port}/app/${key}?protocol=7`),
  );
  const closings = sockets.map(
    (socket) => new Promise((resolve) => socket.addEventListener("close", ({ code }) => resolve(code))),
  );
  await Promise.all(
    sockets.map((socket) => new Promise((resolve) => socket.addEventListener("message", resolve))),
  );
  await host.remove(ID);
  expect(await Promise.all(closings)).toEqual([4001, 4001]);
  expect(pids()).toEqual([]);
});

test("a realtime server reports an occupied port, and runs when the port is free", async () => {
  const other = Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } });
  const host = await startHost();
  const seen = await host.ensure(specOf({}));
  expect(seen.state).toBe("failed");
  expect(seen.lastError).toContain(String(port));
  other.stop(true);
  await until("it runs", () => host.observe(ID).state === "running");
  expect(await connects("key0")).toBe(true);
});

test("the full spec of a realtime server is read back from its manifest", async () => {
  const webhooks: WebSocketApplication["webhooks"] = [
    {
      url: "https://example.com",
      eventTypes: ["cache_miss"],
      isBatched: true,
      filter: { channelNameStartsWith: "a" },
    },
    { url: "https://example.com", eventTypes: ["member_added"], isBatched: false },
  ];
  const spec = specOf({ webhooks, allowedOrigins: ["*"] });
  await (await startHost()).ensure(spec);
  expect(readManifest(instanceFolder(dataDir, ID).manifest)?.spec).toEqual(spec);
});
