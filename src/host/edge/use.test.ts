// What the host knows of the use of instances behind a real edge, on which their sleep depends.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { NO_POLICY } from "../../contracts/edge-route.ts";
import { connect, type Socket } from "node:net";
import { LoneEdge } from "../../../tests/support/engines/lone-edge.ts";
import { haproxy } from "../../engines/haproxy/index.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";

let lone: LoneEdge;

beforeEach(async () => {
  lone = await LoneEdge.start();
});

afterEach(async () => await lone.close());

/** A request whose body does not end until the test says so. */
async function openRequest(name: string): Promise<Socket> {
  const socket = connect(lone.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(`POST / HTTP/1.1\r\nhost: ${name}\r\ncontent-length: 4\r\n\r\nbo`);
  await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
  return socket;
}

async function idle(id: string): Promise<number> {
  await lone.edge.measureUse();
  return lone.edge.idleSeconds(id);
}

/** At most the time since an event is the idle time of an instance that has been used since then. */
async function expectUsedSince(ms: number, id: string): Promise<void> {
  expect(await idle(id)).toBeLessThanOrEqual((performance.now() - ms) / 1_000);
}

/** Waits until the edge counts an open request of a route. */
async function untilOpen(route: string): Promise<void> {
  await until("the request is counted", async () => {
    const used = await haproxy.edge?.usage(lone.engine.context);
    return used?.get(route)?.openRequests === 1;
  });
}

test("an instance is idle from its latest request on, and not while a request is open", async () => {
  lone.serve("a", async (request) => new Response(await request.text()));
  lone.serve("b", () => new Response("b"));
  await lone.route("a", ["a.localhost"]);
  await lone.route("b", ["b.localhost"]);
  const socket = await openRequest("a.localhost");
  await untilOpen("a");
  await until("the other instance is idle", async () => (await idle("b")) > 0.3);
  const measuredMs = performance.now();
  await expectUsedSince(measuredMs, "a");
  const askedMs = performance.now();
  await lone.get("b.localhost");
  await expectUsedSince(askedMs, "b");
  socket.write("dy");
  await until("the instance is idle", async () => (await idle("a")) > 0.3);
  socket.destroy();
});

test("an instance is free only when it does not run and none of its requests is open or held", async () => {
  const server = lone.serve("a", async (request) => new Response(await request.text()));
  const { port } = server;
  await lone.route("a", ["a.localhost"]);
  expect(await lone.edge.isFree("a")).toBe(false);
  const socket = await openRequest("a.localhost");
  await untilOpen("a");
  lone.change("a", { state: "draining", port: 0 });
  expect(await lone.edge.drain("a", 50)).toBe(false);
  socket.write("dy");
  expect(await lone.edge.drain("a", 30_000)).toBe(true);

  const held = lone.get("a.localhost");
  await until("it is held", () => lone.edge.waiting === 1);
  expect(await lone.edge.isFree("a")).toBe(false);
  lone.change("a", { state: "running", port });
  expect((await held).status).toBe(200);
  lone.change("a", { state: "draining", port: 0 });
  expect(await lone.edge.drain("a", 30_000)).toBe(true);
  await lone.killEngine();
  expect(await lone.edge.isFree("a")).toBe(false);
  expect(lone.edge.idleSeconds("a")).toBe(0);
  socket.destroy();
});

test("an instance begins to be idle when a route leads to it, when it wakes, and when the edge is another", async () => {
  lone.serve("a", () => new Response("a"));
  await lone.route("a", [], null);
  expect(await idle("a")).toBe(0);
  await lone.route("a", ["a.localhost"]);
  await until("it is idle", async () => (await idle("a")) > 0.2);
  const changedMs = performance.now();
  for (const state of ["draining", "asleep", "starting", "running"] as const) lone.change("a", { state });
  await expectUsedSince(changedMs, "a");
  await until("it is idle", async () => (await idle("a")) > 0.2);
  const killedMs = performance.now();
  await lone.killEngine();
  await lone.startEngine();
  await expectUsedSince(killedMs, "a");
});

test("an instance that is started again after a crash has been idle all the time", async () => {
  lone.serve("a", () => new Response("a"));
  await lone.route("a", ["a.localhost"]);
  lone.change("a", { state: "running" });
  await until("it is idle", async () => (await idle("a")) > 0.2);
  lone.change("a", { state: "starting" });
  lone.change("a", { state: "running" });
  expect(await idle("a")).toBeGreaterThan(0.2);
});

test("the edge reports the routes with recent requests alone, among thousands of routes", async () => {
  for (let route = 0; route < 2_000; route += 1) lone.add(`app-${route}`, "running", 1);
  lone.killHost();
  lone.startHost();
  const routes = Array.from({ length: 2_000 }, (_, route) =>
    lone.edge.ensure({
      id: `env-${route}`,
      names: [`n${route}.localhost`],
      instances: [`app-${route}`],
      settings: { timeoutSeconds: 1, policy: NO_POLICY },
    }),
  );
  // The writes of the routes would keep this process from the answers for longer than the edge reports a request.
  await Promise.all(routes);
  lone.serve("last", () => new Response("last"));
  await lone.route("last", ["last.localhost"]);
  const askedAtMs = performance.now();
  expect((await lone.get("last.localhost")).status).toBe(200);
  const used = await haproxy.edge?.usage(lone.engine.context);
  expect([...(used?.keys() ?? [])]).toEqual(["last"]);
  await expectUsedSince(askedAtMs, "last");
});
