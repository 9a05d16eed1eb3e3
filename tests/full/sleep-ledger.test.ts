// Minutes of random kills while instances fall asleep and wake under load. `PILVI_SOAK_SEED` and `PILVI_SOAK_KILLS`
// repeat or lengthen it.
import { afterAll, beforeAll, test } from "bun:test";
import { shortened } from "../crash/share.ts";
import { SleepChaos } from "../crash/sleep-chaos.ts";
import { startPilvi, type TestPilvi } from "../support/pilvi/pilvi.ts";

const SEED = Number(process.env.PILVI_SOAK_SEED ?? Date.now() % 2 ** 31);
const KILLS = Number(process.env.PILVI_SOAK_KILLS ?? shortened(120));
const TIMEOUT_MS = 20 * 60_000;

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startPilvi();
});

afterAll(async () => {
  await pilvi.close();
});

test(
  `after ${KILLS} kills no confirmed write is lost, none invented, and all instances sleep in the end (seed ${SEED})`,
  async () => {
    const targets = ["control", "host", "gateway", "both", "engine", "engine", "everything"] as const;
    await new SleepChaos(pilvi, { seed: SEED, targets, kills: KILLS }).run();
  },
  TIMEOUT_MS,
);
