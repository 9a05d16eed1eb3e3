// Minutes of random kills of any process under load. `PILVI_SOAK_SEED` and `PILVI_SOAK_KILLS` repeat or lengthen it.
import { afterAll, beforeAll, test } from "bun:test";
import type { Database } from "../../src/store/database.ts";
import { Chaos } from "../crash/chaos.ts";
import { openStore } from "../crash/inspection.ts";
import { shortened } from "../crash/share.ts";
import { startPilvi, type TestPilvi } from "../support/pilvi/pilvi.ts";

const SEED = Number(process.env.PILVI_SOAK_SEED ?? Date.now() % 2 ** 31);
const KILLS = Number(process.env.PILVI_SOAK_KILLS ?? shortened(200));
const TIMEOUT_MS = 20 * 60_000;

let pilvi: TestPilvi;
let store: Database;

beforeAll(async () => {
  pilvi = await startPilvi();
  store = await openStore(pilvi);
});

afterAll(async () => {
  await store.close();
  await pilvi.close();
});

test(
  `after ${KILLS} kills at random moments every promise to customers holds (seed ${SEED})`,
  async () => {
    const targets = ["control", "host", "both", "up", "store", "engine", "engine"] as const;
    await new Chaos(pilvi, store, { seed: SEED, targets, kills: KILLS }).run();
  },
  TIMEOUT_MS,
);
