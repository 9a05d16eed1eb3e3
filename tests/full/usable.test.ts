// Minutes of random kills and freezes. `PILVI_USABLE_SEED` and `PILVI_USABLE_SECONDS` repeat or lengthen it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { shortened } from "../crash/share.ts";
import { UsableChaos } from "../crash/usable-chaos.ts";
import { startPilvi, type TestPilvi } from "../support/pilvi/pilvi.ts";

const SEED = Number(process.env.PILVI_USABLE_SEED ?? Date.now() % 2 ** 31);
const SECONDS = Number(process.env.PILVI_USABLE_SECONDS ?? shortened(180));

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startPilvi();
});

afterAll(() => pilvi.close());

test(
  `every available resource can be used during ${SECONDS} s of kills and freezes (seed ${SEED})`,
  async () => {
    expect(await new UsableChaos(pilvi, { seed: SEED, seconds: SECONDS }).run()).toEqual([]);
  },
  (SECONDS + 300) * 1_000,
);
