// The whole crash matrix of caches: a create, a delete and a restart, stopped at every step, with every victim.
import { afterAll, afterEach, beforeAll, describe, test } from "bun:test";
import { begin, cleanUp, end, interrupt } from "../crash/matrix.ts";
import { scenariosOf } from "../crash/scenario.ts";
import { shareOf } from "../crash/share.ts";

beforeAll(begin);
afterEach(cleanUp);
afterAll(end);

describe.each(["create", "delete", "restart"] as const)("a %s", (action) => {
  test.each(shareOf(scenariosOf(action)))("at %s survives a kill of %s", (...[step, victim, at]) =>
    interrupt(action, [step, victim, at]),
  );
});
