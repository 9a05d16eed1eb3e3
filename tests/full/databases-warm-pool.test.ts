// Kills of the host at every step of building a warm slot or handing it over.
import { afterAll, beforeAll, test } from "bun:test";
import { playSlotKill } from "../crash/databases-warm-pool.ts";
import { startDatabases } from "../support/pilvi/databases.ts";
import { Failpoints, type TestPilvi } from "../support/pilvi/pilvi.ts";

let pilvi: TestPilvi;
let failpoints: Failpoints;

beforeAll(async () => {
  failpoints = new Failpoints();
  pilvi = await startDatabases({ ...failpoints.env, PILVI_WARM_SLOTS: "1" });
});

afterAll(async () => {
  await pilvi.close();
  failpoints.close();
});

test.each(["slots.begun", "slots.built", "slots.taken", "slots.given"])("at %s", (place) =>
  playSlotKill(pilvi, failpoints, place),
);
