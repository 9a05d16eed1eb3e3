// A route under attack at a real edge: a client has to pass the challenge before anything of it reaches an application.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { passOf } from "../../../tests/support/engines/challenge.ts";
import { LoneEdge } from "../../../tests/support/engines/lone-edge.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";

const ATTACKED = { isUnderAttack: true };

let lone: LoneEdge;
let requests: string[];

beforeEach(async () => {
  lone = await LoneEdge.start();
  requests = [];
  lone.serve("app", (request) => {
    requests.push(request.method);
    return new Response("app");
  });
});

afterEach(async () => await lone.close());

async function passFor(name: string): Promise<Record<string, string>> {
  return { cookie: passOf(await (await lone.get(name)).text()) };
}

async function statusOf(name: string, init: RequestInit = {}): Promise<number> {
  const answer = await lone.get(name, "/", init);
  await answer.arrayBuffer();
  return answer.status;
}

test("every client has to pass the challenge, whatever the method", async () => {
  await lone.route("a", ["a.localhost"], "app", 30, ATTACKED);
  for (const method of ["GET", "HEAD", "POST", "DELETE", "OPTIONS"])
    expect(await statusOf("a.localhost", { method })).toBe(403);
  expect((await lone.get("a.localhost")).headers.get("cache-control")).toBe("no-store");
  expect(requests).toEqual([]);
  const headers = await passFor("a.localhost");
  expect(await statusOf("a.localhost", { headers })).toBe(200);
  expect(await statusOf("a.localhost", { method: "POST", body: "b", headers })).toBe(200);
  expect(await statusOf("a.localhost", { headers: { cookie: "pilvi_pass=1x" } })).toBe(403);
  expect(requests).toEqual(["GET", "POST"]);
});

test("the mode is switched while the edge runs, and outlives the edge", async () => {
  await lone.route("a", ["a.localhost"], "app");
  expect(await statusOf("a.localhost")).toBe(200);
  await lone.route("a", ["a.localhost"], "app", 30, ATTACKED);
  expect(await statusOf("a.localhost")).toBe(403);
  const headers = await passFor("a.localhost");
  await lone.killEngine();
  await lone.startEngine();
  expect(await statusOf("a.localhost")).toBe(403);
  expect(await statusOf("a.localhost", { headers })).toBe(200);
  await lone.route("a", ["a.localhost"], "app");
  expect(await statusOf("a.localhost")).toBe(200);
});

test("a pass is good for its route and no other", async () => {
  await lone.route("a", ["a.localhost"], "app", 30, ATTACKED);
  await lone.route("b", ["b.localhost"], "app", 30, ATTACKED);
  const headers = await passFor("a.localhost");
  expect(await statusOf("a.localhost", { headers })).toBe(200);
  expect(await statusOf("b.localhost", { headers })).toBe(403);
});

test("a limit holds for clients that have passed", async () => {
  const rateLimit = { level: "throttle", requestsPerMinute: 100 } as const;
  await lone.route("a", ["a.localhost"], "app", 30, { ...ATTACKED, rateLimit });
  const headers = await passFor("a.localhost");
  for (let request = 1; request < 100; request += 1)
    expect(await statusOf("a.localhost", { headers })).toBe(200);
  expect(await statusOf("a.localhost", { headers })).toBe(429);
});

test("the host's own probes pass", async () => {
  await lone.route("a", ["a.localhost"], "app", 30, ATTACKED);
  const seen = await lone.edge.probe({ name: "a.localhost", path: "/", timeoutSeconds: 5 });
  expect(seen).toMatchObject({ status: 200, port: lone.applications.get("app")?.port });
});

test("a sleeping application is woken by clients that have passed alone", async () => {
  const port = lone.applications.get("app")?.port ?? 0;
  const application = lone.add("asleep", "asleep", 0, () =>
    lone.change("asleep", { state: "running", port }),
  );
  await lone.route("a", ["a.localhost"], "asleep", 30, ATTACKED);
  const headers = await passFor("a.localhost");
  for (let request = 0; request < 20; request += 1) expect(await statusOf("a.localhost")).toBe(403);
  await lone.edge.measureUse();
  expect([application.wakes, lone.edge.waiting]).toEqual([0, 0]);
  expect(await statusOf("a.localhost", { headers })).toBe(200);
  expect(application.wakes).toBe(1);
});

test("a request that is refused wakes no instance that sleeps alone, and the next use does", async () => {
  const worker = lone.add("worker", "asleep", 0);
  await lone.route("a", ["a.localhost"], ["app", "worker"], 30, { refusesScans: true });
  const statusOfPath = async (path: string) => (await lone.get("a.localhost", path)).status;
  expect(await statusOfPath("/.env")).toBe(403);
  await lone.edge.measureUse();
  expect(worker.wakes).toBe(0);
  expect(await statusOfPath("/")).toBe(200);
  await lone.edge.measureUse();
  expect(worker.wakes).toBe(1);
  await until("a wake is tried again", async () => {
    await lone.edge.measureUse();
    return worker.wakes > 1;
  });
});
