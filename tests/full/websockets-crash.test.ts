// The whole crash matrix of WebSocket clusters: every operation, stopped at every step, with every victim.
import { afterAll, beforeAll, test } from "bun:test";
import { allScenarios, runScenario } from "../crash/websockets-scenarios.ts";
import { Failpoints, startPilvi, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { shareOf } from "../crash/share.ts";

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

test.each(shareOf(allScenarios()))("%s, at %s, kill %s", (...[operation, place, victim]) =>
  runScenario({ pilvi, failpoints }, [operation, place, victim]),
);
