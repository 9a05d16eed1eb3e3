// Waits for warm slots, so that building them in the background does not disturb the measurement.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { until, type TestPilvi } from "../../tests/support/pilvi/pilvi.ts";
import { MEASURED } from "./databases.ts";

/** How long building all slots may take, in milliseconds. */
const BUILD_TIMEOUT_MS = 120_000;
/**
 * The kernel has settled after this time since the last build. Meanwhile Pilvi gets requests all the time: on a virtual
 * machine the first work after a pause takes any program tens of milliseconds, and the bare engine starts right after
 * work.
 */
const SETTLE_MS = 200;

/** Resolves when each measured engine has this many slots and none is being built. */
export async function untilSlotsAreFull(pilvi: TestPilvi, count: number): Promise<void> {
  if (count === 0) return;
  const root = join(pilvi.dataDir, "slots");
  const isFull = () => {
    const kinds = existsSync(root) ? readdirSync(root) : [];
    return MEASURED.every(({ engine }) => {
      const slots = kinds
        .filter((kind) => kind.startsWith(`${engine}-`))
        .flatMap((kind) => readdirSync(join(root, kind)));
      return slots.length >= count && !slots.some((name) => name.endsWith(".building"));
    });
  };
  await until("all slots are full", isFull, BUILD_TIMEOUT_MS);
  const settledAt = performance.now() + SETTLE_MS;
  while (performance.now() < settledAt) await pilvi.api("GET", "/databases/clusters");
}
