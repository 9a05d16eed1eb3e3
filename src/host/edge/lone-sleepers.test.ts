// When an instance that sleeps is woken by a request that another instance of its route has answered.
import { beforeEach, expect, test } from "bun:test";
import { NO_POLICY } from "../../contracts/edge-route.ts";
import type { Observation } from "../../contracts/observation.ts";
import type { RouteUse } from "../../engines/edge.ts";
import { LoneSleepers } from "./lone-sleepers.ts";
import { EdgeRoutes } from "./routes.ts";

const routes = new EdgeRoutes();
routes.put({
  id: "env",
  names: [],
  instances: ["web", "worker"],
  settings: { timeoutSeconds: 30, policy: NO_POLICY },
});

let sleepers: LoneSleepers;
let states: Record<string, Observation["state"]>;
let woken: string[];
let admitted: number;
let usedAtMs: number;

beforeEach(() => {
  sleepers = new LoneSleepers();
  states = { web: "running", worker: "running" };
  woken = [];
  admitted = 0;
  usedAtMs = performance.now() - 10_000;
});

function change(id: string, state: Observation["state"]): void {
  states[id] = state;
  sleepers.changed({ id, state });
}

/** The edge admits a request, which is answered at once. */
function request(): void {
  admitted += 1;
  usedAtMs = performance.now();
}

/** The edge reports. */
function report(): void {
  const askedAtMs = performance.now();
  const use: RouteUse = {
    openRequests: 0,
    idleMs: performance.now() - usedAtMs,
    unlogged: 0,
    admitted,
    counted: { since: 1, answers: [admitted, 0, 0, 0] },
  };
  sleepers.wakeUsed({ usage: new Map([["env", use]]), askedAtMs }, routes, (id) => ({
    state: states[id] ?? "absent",
    port: 0,
    answers: false,
    wake: () => void woken.push(id),
  }));
}

test("a request before an instance begins to end wakes nothing", () => {
  request();
  report();
  change("worker", "draining");
  report();
  change("worker", "asleep");
  report();
  expect(woken).toEqual([]);
});

test("a request after it sleeps wakes it", () => {
  report();
  change("worker", "draining");
  change("worker", "asleep");
  report();
  expect(woken).toEqual([]);
  request();
  report();
  expect(woken).toEqual(["worker"]);
});

test("a request while it ends wakes it once it sleeps", () => {
  report();
  change("worker", "draining");
  request();
  report();
  expect(woken).toEqual([]);
  change("worker", "asleep");
  report();
  expect(woken).toEqual(["worker"]);
});

test("a request after the report by which it is idle wakes it", () => {
  report();
  request();
  change("worker", "draining");
  change("worker", "asleep");
  report();
  expect(woken).toEqual(["worker"]);
});

test("a request before an end that did not come about wakes nothing after the next", () => {
  report();
  change("worker", "draining");
  request();
  report();
  change("worker", "running");
  change("worker", "draining");
  change("worker", "asleep");
  report();
  expect(woken).toEqual([]);
});
