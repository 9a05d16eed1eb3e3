// A route with several instances: a real edge shares its requests out among those that run.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { LoneEdge } from "../../../tests/support/engines/lone-edge.ts";
import { answerOf, named } from "../../../tests/support/engines/named-application.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { USUAL_POLICY, USUAL_TIMEOUT_SECONDS } from "../../engines/haproxy/policy.ts";

let lone: LoneEdge;

beforeEach(async () => {
  lone = await LoneEdge.start();
  for (const id of ["a", "b", "c"]) lone.serve(id, named(id));
  await lone.route("env", ["env.localhost"], ["a", "b", "c"]);
});

afterEach(async () => await lone.close());

async function answers(count: number, method = "GET"): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (let asked = 0; asked < count; asked += 1) {
    const { name } = await answerOf(lone.get("env.localhost", "/", { method }));
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

test("requests are shared out evenly, on kept and on new connections", async () => {
  expect(await answers(30)).toEqual({ a: 10, b: 10, c: 10 });
  expect(await answers(30, "POST")).toEqual({ a: 10, b: 10, c: 10 });
});

test("an instance that does not run gets no request, and gets its share when it is back", async () => {
  const { port } = lone.applications.get("b") ?? { port: 0 };
  lone.change("b", { state: "starting", port: 0 });
  await lone.route("env", ["env.localhost"], ["a", "b", "c"]);
  expect(await answers(10)).toEqual({ a: 5, c: 5 });
  lone.change("b", { state: "running", port });
  await lone.route("env", ["env.localhost"], ["a", "b", "c"]);
  expect(await answers(9)).toEqual({ a: 3, b: 3, c: 3 });
});

test("another host and another edge have the same instances", async () => {
  lone.killHost();
  lone.startHost();
  expect(await answers(3)).toEqual({ a: 1, b: 1, c: 1 });
  await lone.killEngine();
  await lone.startEngine();
  expect(await answers(3)).toEqual({ a: 1, b: 1, c: 1 });
});

test("a request wakes all instances, also those without a port, and the first that runs answers", async () => {
  const { port } = lone.applications.get("b") ?? { port: 0 };
  const wake = (id: string) => () => lone.change(id, { state: "starting" });
  const worker = lone.add("worker", "asleep", 0, () => wake("worker")());
  worker.answers = false;
  for (const id of ["a", "b", "c"]) lone.add(id, "asleep", 0, wake(id));
  await lone.route("env", ["env.localhost"], ["a", "b", "c", "worker"]);
  const held = answerOf(lone.get("env.localhost"));
  await until("all are woken", () => [...lone.applications.values()].every(({ wakes }) => wakes === 1));
  lone.change("worker", { state: "running" });
  lone.change("b", { state: "running", port });
  expect((await held).name).toBe("b");
});

test("use of a route wakes an instance of it that has fallen asleep alone", async () => {
  lone.change("c", { state: "asleep", port: 0 });
  await lone.route("env", ["env.localhost"], ["a", "b", "c"]);
  await lone.edge.measureUse();
  expect(lone.applications.get("c")?.wakes).toBe(0);
  expect(await lone.edge.drain("c", 1_000)).toBe(true);
  await answers(2);
  await lone.edge.measureUse();
  expect(lone.applications.get("c")?.wakes).toBeGreaterThan(0);
});

test("use of a route with the usual settings wakes an instance without a port", async () => {
  const worker = lone.add("worker", "asleep", 0);
  worker.answers = false;
  await lone.route("env", ["env.localhost"], ["a", "worker"], USUAL_TIMEOUT_SECONDS, USUAL_POLICY);
  await lone.edge.measureUse();
  expect(worker.wakes).toBe(0);
  await answers(1);
  await lone.edge.measureUse();
  expect(worker.wakes).toBeGreaterThan(0);
});
