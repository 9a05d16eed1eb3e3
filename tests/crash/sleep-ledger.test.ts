// Confirmed writes survive every kill while instances fall asleep and wake; tests/full runs it for long.
// PILVI_TEST_SEED repeats a run.
import { afterAll, beforeAll, test } from "bun:test";
import { startPilvi, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { SleepChaos } from "./sleep-chaos.ts";

const KILLS = 12;
const seed = Number(process.env.PILVI_TEST_SEED ?? Date.now() % 2 ** 31);

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startPilvi();
});

afterAll(async () => {
  await pilvi.close();
});

test(`no confirmed write is lost, none invented, and all instances sleep in the end (seed ${seed})`, async () => {
  const targets = ["control", "host", "gateway", "both", "engine", "engine", "everything"] as const;
  await new SleepChaos(pilvi, { seed, targets, kills: KILLS }).run();
});
