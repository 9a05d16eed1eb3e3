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

/** A scenario for each step where the recorded state and the done work could diverge. */
const scenarios: Scenario[] = [
  ["create", "create.written", "control"],
  ["create", "host.ensure.config", "host"],
  ["create", "host.start.spawned", "both"],
  ["create", "host.ensure.applied", "engine"],
  ["resize", "reconcile.ensured", "control"],
  ["create application", "host.ensure.manifest", "host"],
  ["create application", "host.ensure.applied", "engine"],
  ["change application", "host.ensure.ready", "both"],
  ["change application", "loop.reconciled", "engine"],
  ["rotate secret", "host.ensure.manifest", "both"],
  ["rotate secret", "host.ensure.applied", "host"],
  ["delete application", "loop.taken", "control"],
  ["delete", "loop.taken", "engine"],
  ["delete", "host.remove.emptied", "both"],
];

test.each(scenarios)("%s, at %s, kill %s", (...[operation, place, victim]) =>
  runScenario({ pilvi, failpoints }, [operation, place, victim]),
);
