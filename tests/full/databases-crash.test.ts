// The whole crash matrix of databases: every operation, stopped at every step, with every victim.
import { afterAll, beforeAll, describe, test } from "bun:test";
import { allScenarios, runScenario } from "../crash/databases-scenarios.ts";
import { MYSQL, POSTGRES, startDatabases } from "../support/pilvi/databases.ts";
import { Failpoints, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { shareOf } from "../crash/share.ts";

let pilvi: TestPilvi;
let failpoints: Failpoints;

beforeAll(async () => {
  failpoints = new Failpoints();
  pilvi = await startDatabases({ ...failpoints.env, PILVI_WARM_SLOTS: "4" });
});

afterAll(async () => {
  await pilvi.close();
  failpoints.close();
});

describe.each([POSTGRES, MYSQL])("%s", (type) => {
  test.each(shareOf(allScenarios()))("%s, at %s, kill %s", (...[operation, place, victim]) =>
    runScenario({ pilvi, failpoints, type }, [operation, place, victim]),
  );
});
