// What a real edge counts and times of the answers of each route.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { LoneEdge } from "../../../tests/support/engines/lone-edge.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { answerNames } from "../../contracts/readings.ts";
import { haproxy } from "../../engines/haproxy/index.ts";
import { EdgeRequests } from "../logs/environments/edge-requests.ts";

let lone: LoneEdge;
/** The times until answers began, as the host has received them. */
let times: { route: string; ms: number }[];

beforeEach(async () => {
  times = [];
  const logs = { request: () => {}, missed: () => {} };
  const figures = {
    counted: () => {},
    answered: (route: string, ms: number) => void times.push({ route, ms }),
  };
  lone = await LoneEdge.start({ access: (dataDir) => new EdgeRequests(dataDir, logs, figures) });
});

afterEach(async () => await lone.close());

/** The counts of a route that is known, in the order of the names. */
async function answersOf(route: string): Promise<number[] | undefined> {
  const usage = await haproxy.edge?.usage(lone.engine.context);
  return usage?.get(route)?.counted?.answers;
}

test("answers of applications and of the edge itself are counted by their status, each in its route", async () => {
  lone.serve("a", ({ url }) => new Response(null, { status: Number(new URL(url).pathname.slice(1)) }));
  await lone.route("a", ["a.localhost"]);
  for (const status of [200, 204, 200, 302, 404, 422, 500]) await lone.get("a.localhost", `/${status}`);
  expect(await answersOf("a")).toEqual([3, 1, 2, 1]);

  await lone.route("none", ["none.localhost"], null);
  expect((await lone.get("none.localhost")).status).toBe(503);
  await lone.route("strict", ["strict.localhost"], "a", 30, { refusesScans: true });
  expect((await lone.get("strict.localhost", "/.env")).status).toBe(403);
  expect((await lone.get("unknown.localhost")).status).toBe(404);
  expect(await answersOf("none")).toEqual([0, 0, 0, 1]);
  expect(await answersOf("strict")).toEqual([0, 0, 1, 0]);
  expect(await answersOf("a")).toEqual([3, 1, 2, 1]);
  expect(answerNames).toHaveLength(4);
});

test("probes of the host are not counted", async () => {
  const { port } = lone.serve("a", () => new Response("a"));
  await lone.route("a", ["a.localhost"]);
  const answer = await lone.edge.probe({ name: "a.localhost", path: "/", timeoutSeconds: 5 });
  expect(answer).toMatchObject({ status: 200, port });
  expect(await answersOf("a")).toEqual([0, 0, 0, 0]);
  await lone.get("a.localhost");
  expect(await answersOf("a")).toEqual([1, 0, 0, 0]);
});

test("requests that are too many to be logged are counted all the same", async () => {
  lone.serve("a", () => new Response("a"));
  await lone.route("a", ["a.localhost"]);
  const requests = 2_000;
  for (let sent = 0; sent < requests; sent += 100)
    await Promise.all(Array.from({ length: 100 }, () => lone.get("a.localhost")));
  expect(await answersOf("a")).toEqual([requests, 0, 0, 0]);
});

test("the time of an answer ends when it begins, however long it is sent, and has the time of a wake", async () => {
  const end = Promise.withResolvers<void>();
  lone.serve("a", () => {
    const parts = (async function* () {
      yield "first ";
      await end.promise;
      yield "last";
    })();
    return new Response(parts as unknown as ReadableStream);
  });
  await lone.route("a", ["a.localhost"]);
  const askedMs = performance.now();
  const streamed = await lone.get("a.localhost");
  const beganMs = performance.now();
  await until("the answer has been open for a while", () => performance.now() - beganMs > 400);
  end.resolve();
  expect(await streamed.text()).toBe("first last");
  await until("the line has come", () => times.length === 1);
  expect(times[0]?.route).toBe("a");
  expect(times[0]?.ms).toBeLessThan(beganMs - askedMs + 100);

  lone.add("b", "asleep", 0);
  await lone.route("b", ["b.localhost"]);
  const held = lone.get("b.localhost");
  await until("it is held", () => lone.edge.waiting === 1);
  const heldMs = performance.now();
  await until("it is held for a while", () => performance.now() - heldMs > 300);
  lone.serve("b", () => new Response("awake"));
  expect(await (await held).text()).toBe("awake");
  await until("the line has come", () => times.length === 2);
  expect(times[1]?.route).toBe("b");
  expect(times[1]?.ms).toBeGreaterThanOrEqual(300);
});
