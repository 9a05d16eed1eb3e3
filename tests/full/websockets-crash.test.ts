// The whole crash matrix of WebSocket clusters: every operation, stopped at every place, with every victim.
import { afterAll, beforeAll, test } from "bun:test";
import { allCells, play } from "../crash/websockets-cells.ts";
import { Failpoints, startPilvi, type TestPilvi } from "../support/pilvi.ts";

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

test.each(allCells())("%s, at %s, kill %s", (...[operation, place, victim]) =>
  play({ pilvi, failpoints }, [operation, place, victim]),
);
