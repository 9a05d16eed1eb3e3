// Kills Pilvi's processes and engines while instances fall asleep and wake; tests/full has every such scenario.
import { afterAll, afterEach, beforeAll, describe, test } from "bun:test";
import { Failpoints, startPilvi, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { runScenario, type Scenario } from "./sleep-scenarios.ts";
import { sleepyKinds } from "./sleepers.ts";

let pilvi: TestPilvi;
let failpoints: Failpoints;

beforeAll(async () => {
  failpoints = new Failpoints();
  pilvi = await startPilvi({ env: failpoints.env });
});

/** Leftovers of a scenario must not fail the next. */
afterEach(() => failpoints.release());

afterAll(async () => {
  await pilvi.close();
  failpoints.close();
});

/** Scenarios for each step where the recorded state and the done work could diverge. */
const scenarios: Record<string, Scenario[]> = {
  Postgres: [
    ["suspend", "host.suspend.draining", "host"],
    ["suspend", "host.suspend.recorded", "host"],
    ["suspend", "host.suspend.recorded", "everything"],
    ["suspend", "host.suspend.detached", "engine"],
    ["suspend", "host.suspend.detached", "Pilvi, gently"],
    ["wake", "host.start.noted", "host"],
    ["wake", "host.start.spawned", "engine"],
  ],
  MySQL: [
    ["suspend", "host.suspend.detached", "host"],
    ["suspend", "host.suspend.ended", "host"],
    ["wake", "host.start.due", "everything"],
    ["wake", "host.start.spawned", "host"],
  ],
  "a cache that keeps every key": [
    ["suspend", "host.suspend.draining", "gateway"],
    ["wake", "host.ensure.ready", "engine"],
    ["wake", "host.start.due", "host, gently"],
    ["hand over", "host.suspend.ended", "host"],
    ["hand over", "host.suspend.stopped", "everything"],
    ["take back", "host.start.due", "gateway"],
    ["take back", "host.start.spawned", "host"],
  ],
  "a cache that may drop keys": [
    ["suspend", "host.suspend.detached", "everything"],
    ["wake", "host.start.spawned", "host"],
  ],
};

describe.each(sleepyKinds())("$name", (kind) => {
  test.each(scenarios[kind.name] ?? [])("%s, at %s, kill %s", (...[operation, place, victim]) =>
    runScenario({ pilvi, failpoints, kind }, [operation, place, victim]),
  );
});
