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

/** A scenario for each step where the recorded state and the done work could diverge. */
const postgresCells: Scenario[] = [
  ["create", "host.ensure.folders", "host"],
  ["create", "host.start.spawned", "host"],
  ["create", "host.ensure.applied", "engine"],
  ["create", "reconcile.logged-in", "both"],
  ["create schema", "host.ensure.applied", "host"],
  ["delete schema", "reconcile.ensured", "control"],
  ["delete", "host.remove.stopped", "both"],
];

const mysqlCells: Scenario[] = [
  ["create", "host.ensure.ready", "host"],
  ["create schema", "reconcile.ensured", "engine"],
  ["delete", "reconcile.removed", "control"],
];

describe("Postgres", () => {
  test.each(postgresCells)("%s, at %s, kill %s", (...[operation, place, victim]) =>
    runScenario({ pilvi, failpoints, type: POSTGRES }, [operation, place, victim]),
  );
});

describe("MySQL", () => {
  test.each(mysqlCells)("%s, at %s, kill %s", (...[operation, place, victim]) =>
    runScenario({ pilvi, failpoints, type: MYSQL }, [operation, place, victim]),
  );
});
