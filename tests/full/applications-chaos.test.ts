// Minutes of random kills and freezes under applications with what is attached to them. `PILVI_APPLICATIONS_SEED` and
// `PILVI_APPLICATIONS_SECONDS` repeat or lengthen it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Database } from "../../src/store/database.ts";
import { ApplicationsChaos } from "../crash/applications-chaos.ts";
import { shortened } from "../crash/share.ts";
import { openStore } from "../crash/inspection.ts";
import { startPilvi, type TestPilvi } from "../support/pilvi/pilvi.ts";

const SEED = Number(process.env.PILVI_APPLICATIONS_SEED ?? Date.now() % 2 ** 31);
const SECONDS = Number(process.env.PILVI_APPLICATIONS_SECONDS ?? shortened(180));
const NOTES = process.env.PILVI_APPLICATIONS_NOTES;

let pilvi: TestPilvi;
let store: Database;

beforeAll(async () => {
  pilvi = await startPilvi();
  store = await openStore(pilvi);
}, 60_000);

afterAll(async () => {
  await store.close();
  if (NOTES === undefined) await pilvi.close();
  else {
    await pilvi.stop();
    await Bun.write(`${NOTES}.log`, pilvi.log());
    console.log("kept", pilvi.dataDir);
  }
});

test(
  `every application is as ordered after ${SECONDS} s of kills and freezes (seed ${SEED})`,
  async () => {
    const options = { seed: SEED, seconds: SECONDS, ...(NOTES !== undefined && { notes: NOTES }) };
    expect(await new ApplicationsChaos(pilvi, store, options).run()).toEqual([]);
  },
  (SECONDS + 600) * 1_000,
);
