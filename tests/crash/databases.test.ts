// Kills Pilvi's processes and engines in the middle of what they do for databases; tests/full has every such cell.
import { afterAll, beforeAll, describe, test } from "bun:test";
import { MYSQL, POSTGRES, startDatabases } from "../support/databases.ts";
import { Failpoints, type TestPilvi } from "../support/pilvi.ts";
import { play, type Cell } from "./databases-cells.ts";

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

/** One for each place where what is written down and what is done could come apart. */
const postgresCells: Cell[] = [
  ["create", "host.ensure.folders", "host"],
  ["create", "host.start.spawned", "host"],
  ["create", "host.ensure.applied", "engine"],
  ["create", "reconcile.logged-in", "both"],
  ["create schema", "host.ensure.applied", "host"],
  ["delete schema", "reconcile.ensured", "control"],
  ["delete", "host.remove.stopped", "both"],
];

const mysqlCells: Cell[] = [
  ["create", "host.ensure.ready", "host"],
  ["create schema", "reconcile.ensured", "engine"],
  ["delete", "reconcile.removed", "control"],
];

describe("Postgres", () => {
  test.each(postgresCells)("%s, at %s, kill %s", (...[operation, place, victim]) =>
    play({ pilvi, failpoints, type: POSTGRES }, [operation, place, victim]),
  );
});

describe("MySQL", () => {
  test.each(mysqlCells)("%s, at %s, kill %s", (...[operation, place, victim]) =>
    play({ pilvi, failpoints, type: MYSQL }, [operation, place, victim]),
  );
});
