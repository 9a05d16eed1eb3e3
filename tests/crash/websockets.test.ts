// Kills Pilvi's processes and servers in the middle of their work for WebSocket clusters; tests/full has every such
// scenario.
import { afterAll, beforeAll, test } from "bun:test";
import { Failpoints, startPilvi, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { runScenario, type Scenario } from "./websockets-scenarios.ts";

let pilvi: TestPilvi;
let failpoints: Failpoints;

beforeAll(async () => {
  failpoints = new Failpoints();
  pilvi = await startPilvi({ env: failpoints.env });
});

afterAll(async () => {
  await pilvi.close();
  failpoints.close();
});

/** Some of the scenarios in which the recorded state and the done work differ most. */
const scenarios: Scenario[] = [
  ["create", "host.ensure.applied", "engine"],
  ["rotate secret", "host.ensure.applied", "host"],
  ["delete", "host.remove.emptied", "both"],
];

test.each(scenarios)("%s, at %s, kill %s", (...[operation, place, victim]) =>
  runScenario({ pilvi, failpoints }, [operation, place, victim]),
);
