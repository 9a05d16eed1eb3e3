// A ledger of acknowledged writes over random kills, compared with restores to the latest instant and to some others.
// `PILVI_SOAK_SEED` repeats a run; `bench/backup-ledger` has more kills.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { BackupLedger } from "../crash/backup-ledger.ts";
import { shortened } from "../crash/share.ts";
import { startDatabases } from "../support/pilvi/databases.ts";
import type { TestPilvi } from "../support/pilvi/pilvi.ts";

const SEED = Number(process.env.PILVI_SOAK_SEED ?? Date.now() % 2 ** 31);
const KILLS = shortened(20);
const INSTANTS = 2;
const TIMEOUT_MS = 20 * 60_000;

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startDatabases();
});

afterAll(async () => {
  await pilvi.close();
});

test(
  `restores after ${KILLS} kills have what was acknowledged by their instants, and nothing later (seed ${SEED})`,
  async () => {
    const options = { seed: SEED, kills: KILLS, instants: INSTANTS };
    const restored = await new BackupLedger(pilvi, options).run();
    expect(restored.length).toBe(2 * (1 + INSTANTS));
    for (const { type, at, lost, invented } of restored)
      expect({ type, at, lost, invented }).toEqual({ type, at, lost: [], invented: [] });
  },
  TIMEOUT_MS,
);
