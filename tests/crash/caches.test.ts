// Kills Pilvi's processes and engines in the middle of their work for caches, at every sixth step; tests/full has
// every such scenario.
import { afterAll, afterEach, beforeAll, describe, test } from "bun:test";
import { begin, cleanUp, end, interrupt } from "./matrix.ts";
import { sampleOf } from "./scenario.ts";

beforeAll(begin);
afterEach(cleanUp);
afterAll(end);

describe.each(["create", "delete", "restart"] as const)("a %s", (action) => {
  test.each(sampleOf(action))("at %s survives a kill of %s", (...[step, victim, at]) =>
    interrupt(action, [step, victim, at]),
  );
});
