// The sleep of applications: real processes behind a real edge, put to sleep when no request needs them.
import { writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { ApplicationHost, applicationSpec } from "../../../tests/support/applications/host.ts";
import { routeOf } from "../../../tests/support/engines/lone-edge.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import { EDGE_ID } from "../../contracts/edge-id.ts";
import type { ApplicationSpec } from "../../contracts/instance-spec.ts";
import { specsOf } from "../../drivers/test-support.ts";
import { instanceFolder } from "../os/layout.ts";
import { holdersOf } from "../os/locks.ts";

const NAME = "a.localhost";

const SERVER = `
Bun.serve({
  port: Number(process.env.PORT),
  hostname: process.env.HOST,
  idleTimeout: 0,
  async fetch(request, server) {
    if (server.upgrade(request)) return;
    if (request.url.endsWith("/end")) process.exit(0);
    if (request.url.endsWith("/secret")) return new Response(process.env.SECRET + " " + process.env.PLAIN);
    return new Response(request.method + " " + (await request.text()).length);
  },
  websocket: { open: (socket) => void socket.send("open"), message: (socket, text) => void socket.send(text) },
});
process.on("SIGTERM", () => {
  console.log("ending well");
  if (process.env.ENDS_WHEN_ASKED === undefined) process.exit(0);
});
`;

let host: ApplicationHost;
let release: string;
let port: number;
let spec: ApplicationSpec;

beforeAll(async () => {
  ({ host, release } = await ApplicationHost.withServer(SERVER));
  port = freePort();
  const edge = specsOf(port).haproxy;
  if (edge === undefined) throw new Error("there is a spec of the edge");
  expect(await host.host.ensure(edge)).toMatchObject({ state: "running", lastError: null });
});

afterAll(() => host.close());

beforeEach(() => {
  spec = applicationSpec({ release, sleepAfterSeconds: 1 });
});

afterEach(async () => {
  await host.host.edge.remove("env");
  await host.host.remove(spec.id);
});

async function begin(changes: Partial<ApplicationSpec> = {}): Promise<void> {
  spec = { ...spec, ...changes };
  expect(await host.host.ensure(spec)).toMatchObject({ state: "running", lastError: null });
  await host.host.edge.ensure(routeOf("env", [NAME], spec.id));
}

async function get(init: RequestInit = {}, path = "/"): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    ...init,
    keepalive: false,
    headers: { host: NAME },
  });
  return `${response.status} ${await response.text()}`;
}

function observed() {
  return host.host.observe(spec.id);
}

function wakes(): number {
  return observed().sleep?.wakes ?? 0;
}

function pids(): number[] {
  return holdersOf(instanceFolder(host.dataDir, spec.id).lock);
}

async function untilAsleep(): Promise<void> {
  await until("it is asleep", () => observed().state === "asleep");
}

async function untilEnding(): Promise<void> {
  await until("it is being stopped", async () =>
    (await Bun.file(instanceFolder(host.dataDir, spec.id).log).text()).includes("ending well"),
  );
}

/** Has a process end that does so only when it is asked at its own port. */
async function endItself(): Promise<void> {
  await fetch(`http://127.0.0.1:${spec.exposure.port}/end`).catch(() => undefined);
}

function webSocket(): { socket: WebSocket; next(): Promise<unknown> } {
  const options = { headers: { host: NAME } } as unknown as string[];
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, options);
  const next = () =>
    new Promise((resolve) => socket.addEventListener("message", ({ data }) => resolve(data), { once: true }));
  return { socket, next };
}

test("an idle application is put to sleep, and a request with a body wakes it", async () => {
  await begin({ sleepAfterSeconds: 3 });
  expect(await get()).toBe("200 GET 0");
  expect(observed().sleep).toMatchObject({ state: "awake", wakes: 0, lastWake: null });
  await untilAsleep();
  expect(pids()).toEqual([]);
  expect(observed().sleep).toMatchObject({ state: "asleep", wakes: 0 });
  expect(await Bun.file(instanceFolder(host.dataDir, spec.id).log).text()).toContain("ending well");
  expect(await get({ method: "POST", body: "b".repeat(100_000) })).toBe("200 POST 100000");
  const { sleep } = observed();
  expect(sleep).toMatchObject({ state: "awake", wakes: 1 });
  expect(sleep?.lastWake?.reason).toEqual({
    user: "http",
    address: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
  });
  expect(sleep?.lastWake?.spansMs.ready).toBeGreaterThan(0);
  await untilAsleep();
});

test.each(["awake", "asleep"] as const)(
  "an application that is %s at a rotation gets the password at its next start",
  async (state) => {
    const variables = { SECRET: "first", PLAIN: "it's plain" };
    await begin({ sleepAfterSeconds: 3_600, variables, credentials: ["SECRET"] });
    expect(await get({}, "/secret")).toBe("200 first it's plain");
    const before = pids();
    if (state === "asleep") await host.host.suspend(spec.id);
    const rotated = { ...spec, variables: { ...variables, SECRET: "second" } };
    const seen = await host.host.ensure(rotated);
    expect(seen).toMatchObject({ state: state === "asleep" ? "asleep" : "running", lastError: null });
    if (state === "awake") {
      expect(await get({}, "/secret")).toBe("200 first it's plain");
      expect(pids()).toEqual(before);
      await host.host.suspend(spec.id);
    }
    expect(await get({}, "/secret")).toBe("200 second it's plain");
    // A change of anything else is in force at once.
    await host.host.ensure({ ...rotated, variables: { SECRET: "third", PLAIN: "new" } });
    expect(await get({}, "/secret")).toBe("200 third new");
  },
);

test("a crowd wakes an application once", async () => {
  await begin({ sleepAfterSeconds: 3_600 });
  await host.host.suspend(spec.id);
  const crowd = await Promise.all(Array.from({ length: 40 }, () => get({ method: "POST", body: "body" })));
  expect(new Set(crowd)).toEqual(new Set(["200 POST 4"]));
  expect(observed().sleep).toMatchObject({ state: "awake", wakes: 1 });
});

test("a process without a port sleeps and wakes with the application of its route", async () => {
  await begin();
  const exposure = { ...spec.exposure, port: null };
  const worker = { ...applicationSpec({ release, sleepAfterSeconds: 1, command: "sleep 997" }), exposure };
  expect(await host.host.ensure(worker)).toMatchObject({ state: "running", lastError: null });
  await host.host.edge.ensure({ ...routeOf("env", [NAME]), instances: [spec.id, worker.id] });
  const stateOfWorker = () => host.host.observe(worker.id).state;
  await until("both are asleep", () => observed().state === "asleep" && stateOfWorker() === "asleep");
  expect(await get()).toBe("200 GET 0");
  await until("the worker runs", () => stateOfWorker() === "running");
  await host.host.remove(worker.id);
});

test("a WebSocket wakes an application, and keeps it awake while it is open", async () => {
  await begin();
  await untilAsleep();
  const { socket, next } = webSocket();
  expect(await next()).toBe("open");
  const openedAtMs = performance.now();
  // Several times its idle time.
  await until("it was used for long", async () => {
    expect(observed().state).toBe("running");
    await host.host.edge.measureUse();
    expect(host.host.edge.idleSeconds(spec.id)).toBeLessThan(1);
    return performance.now() - openedAtMs > 4_000;
  });
  const answer = next();
  socket.send("still here");
  expect(await answer).toBe("still here");
  socket.close();
  await untilAsleep();
});

test("a request that comes while its application is being stopped is answered by the next process", async () => {
  await begin({ sleepAfterSeconds: 3_600, variables: { ENDS_WHEN_ASKED: "yes" } });
  const [before] = pids();
  const asleep = host.host.suspend(spec.id);
  await untilEnding();
  expect(observed().state).toBe("draining");
  const answer = get({ method: "POST", body: "body" });
  await until("the request waits", () => host.host.edge.waiting === 1);
  await endItself();
  expect(await answer).toBe("200 POST 4");
  await asleep;
  expect(pids()).not.toContain(before);
  expect(observed().sleep).toMatchObject({ state: "awake", wakes: 1 });
});

test("an application that falls asleep is not taken for ended, so that nothing kills it", async () => {
  await begin({ sleepAfterSeconds: 3_600, variables: { ENDS_WHEN_ASKED: "yes" } });
  const asleep = host.host.suspend(spec.id);
  await untilEnding();
  expect(host.host.endings.end(spec.id)).toBe(true);
  await endItself();
  await asleep;
  expect(host.host.endings.end(spec.id)).toBe(false);
});

test("a process without a port that ends now and then sleeps with its application", async () => {
  await begin({ sleepAfterSeconds: 3 });
  const exposure = { port: null, scope: "loopback", through: "engine" } as const;
  const worker = applicationSpec({ release, command: "sleep 2.5", sleepAfterSeconds: 3, exposure });
  await host.host.ensure(worker);
  await host.host.edge.ensure(routeOf("env", [NAME], [spec.id, worker.id]));
  await untilAsleep();
  await until("the worker is asleep", () => host.host.observe(worker.id).state === "asleep");
  expect(await get()).toBe("200 GET 0");
  await until("the worker runs", () => host.host.observe(worker.id).state === "running");
  await host.host.edge.remove("env");
  await host.host.remove(worker.id);
});

test("requests at any moment of many suspensions are all answered", async () => {
  await begin({ sleepAfterSeconds: 3600, variables: { END_MS: "10" } });
  const failed: string[] = [];
  // On a busy machine, the first requests come before a suspension has begun.
  for (let round = 0; round < 30 || wakes() <= 3; round += 1) {
    const beganAtMs = performance.now();
    const asleep = host.host.suspend(spec.id).catch(() => undefined);
    while (performance.now() - beganAtMs < round) await new Promise((resolve) => setImmediate(resolve));
    const answers = await Promise.all([get({ method: "POST", body: "body" }), get()]);
    failed.push(...answers.filter((answer) => !answer.startsWith("200 ")));
    await asleep;
  }
  expect(failed).toEqual([]);
});

test("an application that the next host finds runs for its whole idle time", async () => {
  await begin({ sleepAfterSeconds: 3 });
  await until("it was idle for a while", async () => {
    await host.host.edge.measureUse();
    return host.host.edge.idleSeconds(spec.id) > 1.5;
  });
  await host.restart();
  const restartedAtMs = performance.now();
  expect(observed().state).toBe("running");
  await untilAsleep();
  expect(performance.now() - restartedAtMs).toBeGreaterThan(3_000);
  expect(await get()).toBe("200 GET 0");
});

test("a host that takes over in the middle of a suspension ends it, and answers the request that waits", async () => {
  await begin({ variables: { END_MS: "5000" } });
  const [before] = pids();
  // A host that is killed in a suspension leaves a recorded sleep, and a process that ends. The test writes both itself:
  // a host that has only been let go would end the process of the next host too.
  const { log, manifest: path } = instanceFolder(host.dataDir, spec.id);
  const { sleep, ...manifest } = await Bun.file(path).json();
  const since = new Date().toISOString();
  writeFileSync(path, JSON.stringify({ ...manifest, state: "asleep", sleep: { ...sleep, since } }));
  process.kill(Number(before), "SIGTERM");
  await until("it is being stopped", async () => (await Bun.file(log).text()).includes("ending well"));
  await host.restart();
  const answer = get({ method: "POST", body: "body" });
  expect(await answer).toBe("200 POST 4");
  expect(pids()).not.toContain(before);
  // A restarted host leads requests to the process as soon as it listens, before it was asked for its health.
  await until("it runs", () => observed().state === "running");
  expect(observed()).toMatchObject({ crashes: 0, sleep: { wakes: 1 } });
});

test("a restarted edge begins anew, and an application without a route does not sleep", async () => {
  await begin({ sleepAfterSeconds: 3600 });
  const { edge } = host.host;
  await until("it was idle for a while", async () => {
    await edge.measureUse();
    return edge.idleSeconds(spec.id) > 0.5;
  });
  const [pid] = holdersOf(instanceFolder(host.dataDir, EDGE_ID).lock);
  const killedMs = performance.now();
  if (pid !== undefined) process.kill(pid, "SIGKILL");
  await until("the edge is noticed", () => host.host.observe(EDGE_ID).state !== "running");
  expect(edge.idleSeconds(spec.id)).toBe(0);
  await until("the edge is back", () => host.host.observe(EDGE_ID).state === "running");
  await edge.measureUse();
  expect(edge.idleSeconds(spec.id)).toBeLessThanOrEqual((performance.now() - killedMs) / 1_000);
  await edge.remove("env");
  expect(edge.idleSeconds(spec.id)).toBe(0);
});
