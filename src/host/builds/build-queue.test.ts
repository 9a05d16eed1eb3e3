// The order in which waiting builds and commands begin.
import { expect, test } from "bun:test";
import { buildSpec } from "../../../tests/support/applications/host.ts";
import { BUILD_VERSION, type BuildFile, type BuildSpec } from "../../contracts/builds.ts";
import { BuildQueue, type BegunBuild } from "./build-queue.ts";

/** The order of a build that is named after its organization: `a1` and `a2` are of `a`, each of its own environment. */
function order(id: string, changes: Partial<BuildSpec> = {}): BuildSpec {
  return buildSpec({ id, organization: id.slice(0, 1), environment: `env-${id}`, ...changes });
}

function command(id: string, environment: string): BuildSpec {
  return order(id, { release: "depl-1", environment });
}

function begunOf(queue: BuildQueue): BegunBuild[] {
  const begun: BegunBuild[] = [];
  for (let next = queue.begin(); next !== null; next = queue.begin()) begun.push(next);
  return begun;
}

/** The ids of all builds as they begin, each build ending before the next begins. */
function orderOf(queue: BuildQueue): string[] {
  const ids: string[] = [];
  for (let next = queue.begin(); next !== null; next = queue.begin()) {
    ids.push(next.id);
    next.end();
  }
  return ids;
}

/** A build as an earlier host has left it. */
function left(id: string, second: number, isQueued: boolean): BuildFile {
  const at = new Date(second * 1_000).toISOString();
  const spec = order(id);
  const times = { queuedAt: at, startedAt: isQueued ? null : at, endedAt: isQueued ? null : at };
  const state = isQueued ? ("queued" as const) : ("succeeded" as const);
  const { environment } = spec;
  const build = { version: BUILD_VERSION, id, environment, state, ...times } as const;
  return { build: { ...build, steps: [], failure: null, isolation: null }, spec };
}

test("organizations have their turns, and builds of each begin in the order of their coming", () => {
  const queue = new BuildQueue(1);
  for (const id of ["a1", "a2", "a3", "a4", "b1", "c1", "b2"]) queue.add(order(id));
  expect(queue.size).toBe(7);
  expect(orderOf(queue)).toEqual(["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
  expect(queue.size).toBe(0);
});

test("the organization with the fewest builds that run is next", () => {
  const queue = new BuildQueue(3);
  for (const id of ["a1", "a2", "a3", "a4"]) queue.add(order(id));
  const [first, second] = begunOf(queue);
  for (const id of ["b1", "b2"]) queue.add(order(id));
  first?.end();
  const [third] = begunOf(queue);
  expect(third?.id).toBe("b1");
  second?.end();
  expect(begunOf(queue).map(({ id }) => id)).toEqual(["a4"]);
  third?.end();
  expect(begunOf(queue).map(({ id }) => id)).toEqual(["b2"]);
});

test("orders without an organization count for their environment", () => {
  const queue = new BuildQueue(1);
  const { organization, ...unowned } = order("a1", { environment: "env-a" });
  for (const id of ["a1", "a2"]) queue.add({ ...unowned, id });
  queue.add({ ...unowned, id: "b1", environment: "env-b" });
  expect([organization, ...orderOf(queue)]).toEqual(["a", "a1", "b1", "a2"]);
});

test("a build that was taken out does not begin", () => {
  const queue = new BuildQueue(1);
  for (const id of ["a1", "a2"]) queue.add(order(id));
  queue.remove("a1");
  expect(orderOf(queue)).toEqual(["a2"]);
});

test("commands have room of their own, and the first of an environment waits for no other", () => {
  const queue = new BuildQueue(1);
  for (const id of ["a1", "a2"]) queue.add(order(id));
  for (let index = 1; index <= 9; index += 1) queue.add(command(`c${index}`, "env-c"));
  queue.add(command("c10", "env-other"));
  queue.add(command("d1", "env-d"));
  const begun = begunOf(queue);
  expect(begun.map(({ id }) => id)).toEqual(["a1", "c1", "d1", "c2", "c3", "c4", "c5", "c6", "c7", "c10"]);
  begun.at(1)?.end();
  expect(queue.begin()).toBeNull();
  begun.at(2)?.end();
  expect(begunOf(queue).map(({ id }) => id)).toEqual(["c8"]);
});

test("the next host knows what waits and whose turn was last", () => {
  const queue = new BuildQueue(1);
  queue.load([left("b2", 6, true), left("a2", 5, true), left("a1", 2, false), left("b1", 1, false)]);
  expect(orderOf(queue)).toEqual(["b2", "a2"]);
});
