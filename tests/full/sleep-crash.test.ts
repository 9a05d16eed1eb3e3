// The whole crash matrix of sleep: every way there and back, stopped at every step, with every victim.
import { afterAll, afterEach, beforeAll, describe, test } from "bun:test";
import { runScenario, sleepScenarios } from "../crash/sleep-scenarios.ts";
import { sleepyKinds } from "../crash/sleepers.ts";
import { Failpoints, startPilvi, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { shareOf } from "../crash/share.ts";

let pilvi: TestPilvi;
let failpoints: Failpoints;

beforeAll(async () => {
  failpoints = new Failpoints();
  pilvi = await startPilvi({ env: { ...failpoints.env, PILVI_WARM_SLOTS: "2" } });
});

/** Leftovers of a scenario must not fail the next. */
afterEach(() => failpoints.release());

afterAll(async () => {
  await pilvi.close();
  failpoints.close();
});

describe.each(sleepyKinds())("$name", (kind) => {
  test.each(shareOf(sleepScenarios(kind)))("%s, at %s, kill %s", (...[operation, place, victim]) =>
    runScenario({ pilvi, failpoints, kind }, [operation, place, victim]),
  );
});
