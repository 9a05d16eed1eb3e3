// Kills Pilvi's processes and engines in the middle of their work for databases; tests/full has every such scenario.
import { afterAll, beforeAll, describe, test } from "bun:test";
import { MYSQL, POSTGRES, startDatabases } from "../support/pilvi/databases.ts";
import { Failpoints, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { runScenario, type Scenario } from "./databases-scenarios.ts";

let pilvi: TestPilvi;
let failpoints: Failpoints;

beforeAll(async () => {
  failpoints = new Failpoints();
  pilvi = await startDatabases({ ...failpoints.env, PILVI_WARM_SLOTS: "2" });
});

afterAll(async () => {
  await pilvi.close();
  failpoints.close();
});

/** Some of the scenarios in which the recorded state and the done work differ most. */
const postgresScenarios: Scenario[] = [
  ["create", "reconcile.logged-in", "both"],
  ["delete", "host.remove.stopped", "both"],
];

const mysqlScenarios: Scenario[] = [["create schema", "reconcile.ensured", "engine"]];

describe("Postgres", () => {
  test.each(postgresScenarios)("%s, at %s, kill %s", (...[operation, place, victim]) =>
    runScenario({ pilvi, failpoints, type: POSTGRES }, [operation, place, victim]),
  );
});

describe("MySQL", () => {
  test.each(mysqlScenarios)("%s, at %s, kill %s", (...[operation, place, victim]) =>
    runScenario({ pilvi, failpoints, type: MYSQL }, [operation, place, victim]),
  );
});
