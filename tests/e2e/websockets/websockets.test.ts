// WebSocket clusters with the real server: created, used, changed while in use, killed, and deleted.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { WebsocketMetrics } from "../../../src/resources/websockets/schema.ts";
import { PilviClient, type WebsocketDebugEvent } from "../../../src/sdk/index.ts";
import { startPilvi, TOKEN, until, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { isAlive } from "../../support/pilvi/processes.ts";
import {
  changeApplication,
  createServer,
  deleteServer,
  lets,
  publish,
  RawSocket,
  untilServer,
  type ApplicationDocument,
  type TestServer,
} from "../../support/pilvi/websockets.ts";

/** A minute must end, and a busy machine needs some time to take it. */
const MINUTE_TIMEOUT_MS = 150_000;

let pilvi: TestPilvi;
let made: TestServer;
let sockets: RawSocket[] = [];

beforeAll(async () => {
  pilvi = await startPilvi();
  made = await createServer(pilvi);
});
afterAll(() => pilvi.close());
afterEach(() => {
  for (const socket of sockets) socket.close();
  sockets = [];
});

async function connect(options: { headers?: Record<string, string> } = {}, of = made): Promise<RawSocket> {
  const socket = new RawSocket(of.server, of.main, options);
  sockets.push(socket);
  return await socket.connected();
}

const enginePid = (id = made.id) => {
  const [pid = 0] = pilvi.enginePids(id);
  return pid;
};
const event = (data: string) => ({ channel: "news", name: "said", data });

const metricsOf = async (path: string) =>
  (await pilvi.api<WebsocketMetrics>("GET", `${path}/metrics`)).body.data;

test("a published event reaches its subscribers", async () => {
  expect(made.server.meta.engine?.name).toBe("realtime");
  expect(made.server.meta.limits).toMatchObject({ max_connections: 100 });
  const socket = await connect();
  await socket.subscribe("news");
  expect(await publish(made.server, made.main, event("hello"))).toBe(200);
  expect(await socket.next("said")).toBe("hello");
  expect(await publish(made.server, made.main, event("hello"), { secret: "wrong" })).toBe(401);
});

test("the process has a user of its own, an empty environment, and no secret that other users could read", async () => {
  const pid = enginePid();
  const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").filter(Boolean);
  expect(environment.map((each) => each.split("=")[0]).sort()).toEqual([
    "BUN_JSC_thresholdForFTLOptimizeAfterWarmUp",
    "BUN_RUNTIME_TRANSPILER_CACHE_PATH",
    "TZ",
  ]);
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
  if (process.getuid?.() === 0) {
    expect(status).toMatch(new RegExp(`^Uid:\\s+${30_000 + made.server.meta.port}\\b`, "m"));
    expect(status).toMatch(/^Groups:\s*$/m);
  }
  const { secret = "" } = made.main.attributes;
  const folder = join(pilvi.dataDir, "instances", made.id);
  for (const file of ["conf/realtime.json", "engine.log"])
    expect(readFileSync(join(folder, file), "utf8")).not.toContain(secret);
  expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).not.toContain(secret);
});

test("its application is watched while clients use it, and takes a test event", async () => {
  const client = new PilviClient({ url: pilvi.url, token: TOKEN });
  const applications = client.websockets.applications(made.id);
  const end = new AbortController();
  const seen: WebsocketDebugEvent[] = [];
  const watching = (async () => {
    for await (const each of applications.debug(made.main.id, { signal: end.signal })) seen.push(each);
  })();
  const typesOf = () => seen.map(({ type }) => type);
  await until("it is watched", () => seen.some((each) => each.type === "state" && each.state === "running"));
  const socket = await connect();
  await socket.subscribe("news");
  const answer = await applications.publish(made.main.id, { channel: "news", name: "said", data: "hello" });
  expect(answer).toEqual({ channel: "news", name: "said", subscription_count: 1 });
  const [latest] = (await client.activity.list({ filter: { action: ["publish"] } })).data;
  expect(latest?.attributes).toMatchObject({
    kind: "websocketApplications",
    resource_id: made.main.id,
    details: { channel: "news", name: "said" },
  });
  expect(await socket.next("said")).toBe("hello");
  await until("the event was reported", () => typesOf().includes("published"));
  expect(typesOf().filter((type) => type !== "state")).toEqual([
    "connected",
    "channel_occupied",
    "subscribed",
    "published",
  ]);
  process.kill(enginePid(), "SIGKILL");
  await until("the state says so, and the reports go on", () => {
    const states = seen.flatMap((each) => (each.type === "state" ? [each.state] : []));
    return states.at(-1) === "running" && states.filter((state) => state === "running").length === 2;
  });
  await connect();
  await until(
    "the connection was reported",
    () => typesOf().filter((type) => type === "connected").length === 2,
  );
  end.abort();
  await watching;
});

test("changes act on the running server, and disconnect no other client", async () => {
  const pid = enginePid();
  const allowed = await connect({ headers: { Origin: "https://example.com" } });
  await allowed.subscribe("news");
  const foreign = await connect({ headers: { Origin: "https://elsewhere.example" } });
  await changeApplication(pilvi, made.main, { allowed_origins: ["example.com"] });
  expect(await lets(made.server, made.main, { Origin: "https://elsewhere.example" })).toBe(false);
  expect(await lets(made.server, made.main, { Origin: "https://example.com" })).toBe(true);
  expect(await foreign.closed()).toBe(4009);
  await publish(made.server, made.main, event("still here"));
  expect(await allowed.next("said")).toBe("still here");
  await changeApplication(pilvi, made.main, { allowed_origins: [] });
  expect(allowed.isOpen).toBe(true);
  expect(enginePid()).toBe(pid);
});

test("applications are created and deleted while others are in use", async () => {
  const socket = await connect();
  const path = `/websocket-servers/${made.id}/applications`;
  const { body } = await pilvi.api<ApplicationDocument>("POST", path, { name: "website" });
  await untilServer(pilvi, made.id);
  const other = new RawSocket(made.server, body.data);
  await other.connected();
  await pilvi.api("DELETE", `/websocket-applications/${body.data.id}`);
  await untilServer(pilvi, made.id);
  expect(await other.closed()).toBeGreaterThanOrEqual(4000);
  expect(await lets(made.server, body.data)).toBe(false);
  expect(socket.isOpen).toBe(true);
});

test("the limit of connections holds", async () => {
  const own = await createServer(pilvi, { name: "small" });
  await changeApplication(pilvi, own.main, { max_connections: 1 });
  const socket = await connect({}, own);
  expect(await lets(own.server, own.main)).toBe(false);
  await changeApplication(pilvi, own.main, { max_connections: 2 });
  expect(await lets(own.server, own.main)).toBe(true);
  expect(socket.isOpen).toBe(true);
  await deleteServer(pilvi, own.id);
  expect(await socket.closed()).toBe(4001);
});

test("a rotated secret works at once, and the former secret for its grace", async () => {
  const socket = await connect();
  const rotate = async (seconds: number) => {
    const path = `/websocket-applications/${made.main.id}/rotate-secret`;
    const { body } = await pilvi.api<ApplicationDocument>("POST", path, { grace_seconds: seconds });
    await untilServer(pilvi, made.id);
    return body.data;
  };
  const { secret: first = "" } = made.main.attributes;
  const rotated = await rotate(600);
  expect(await publish(made.server, rotated, event("new"))).toBe(200);
  expect(await publish(made.server, rotated, event("old"), { secret: first })).toBe(200);
  const ended = await rotate(0);
  expect(await publish(made.server, ended, event("new"))).toBe(200);
  for (const secret of [first, rotated.attributes.secret ?? ""])
    expect(await publish(made.server, ended, event("old"), { secret })).toBe(401);
  made = { ...made, main: ended };
  expect(socket.isOpen).toBe(true);
});

test(
  "metrics and figures are reported",
  async () => {
    await connect();
    await until(
      "something was measured",
      async () => {
        const { connection_count: count } = await metricsOf(`/websocket-applications/${made.main.id}`);
        return count.data.length > 0;
      },
      MINUTE_TIMEOUT_MS,
    );
    const { connection_count: count, message_rate: rate } = await metricsOf(`/websocket-servers/${made.id}`);
    expect(count.average[0]).toBeGreaterThanOrEqual(0);
    expect(rate.data).toHaveLength(count.data.length);
    const labels = `server="${made.id}",application="${made.main.id}"`;
    // A cluster that does not answer at once is left out.
    await until("its connection is counted", async () => {
      return (await pilvi.metrics()).includes(`\npilvi_websocket_connections{${labels}} 1\n`);
    });
  },
  2 * MINUTE_TIMEOUT_MS,
);

test("a killed server is back with its whole desired state", async () => {
  await changeApplication(pilvi, made.main, { allowed_origins: ["example.com"] });
  const killed = enginePid();
  process.kill(killed, "SIGKILL");
  await until("another one lets clients in", async () => {
    if (isAlive(killed)) return false;
    return await lets(made.server, made.main, { Origin: "https://example.com" }).catch(() => false);
  });
  expect(await lets(made.server, made.main, { Origin: "https://elsewhere.example" })).toBe(false);
  await untilServer(pilvi, made.id);
  await changeApplication(pilvi, made.main, { allowed_origins: [] });
});

test("clients stay connected while Pilvi's own processes are killed", async () => {
  const socket = await connect();
  await socket.subscribe("news");
  const pid = enginePid();
  pilvi.kill("control", "host");
  await until("Pilvi's processes are others", () => pilvi.pidOf("control") !== undefined);
  await pilvi.untilReady();
  await publish(made.server, made.main, event("all along"));
  expect(await socket.next("said")).toBe("all along");
  expect(enginePid()).toBe(pid);
  // The next host has adopted it and sends it messages.
  await changeApplication(pilvi, made.main, { subscription_count_enabled: true });
  expect(socket.isOpen).toBe(true);
});

test("a clean stop of Pilvi ends it, and the next start brings it back on its port", async () => {
  const pid = enginePid();
  await pilvi.stop();
  expect(isAlive(pid)).toBe(false);
  await pilvi.start();
  const server = await untilServer(pilvi, made.id);
  expect(server.meta.port).toBe(made.server.meta.port);
  expect(await publish(server, made.main, event("again"))).toBe(200);
});

test("a deleted cluster leaves nothing", async () => {
  const pid = enginePid();
  await deleteServer(pilvi, made.id);
  expect(isAlive(pid)).toBe(false);
  expect(pilvi.instanceFolders()).not.toContain(made.id);
});
