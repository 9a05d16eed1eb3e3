// Warm slots of a Pilvi with a slot of each engine, and kills of the host while it builds a slot or hands it over.
import { expect } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { connectPg, deleteCluster, orderCluster, untilCluster } from "../support/pilvi/databases.ts";
import { until, type Failpoints, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { isAlive } from "../support/pilvi/processes.ts";
import { killPilvi } from "./databases-disasters.ts";

/** The folders of all slots of an engine, complete or not. */
export function slotsOf(pilvi: TestPilvi, engine: "postgres" | "mariadb"): string[] {
  const root = join(pilvi.dataDir, "slots");
  return readdirSync(root)
    .filter((key) => key.startsWith(engine))
    .flatMap((key) => readdirSync(join(root, key)).map((name) => join(root, key, name)));
}

/** Waits until no slot is being built any more. */
export async function untilSlotsAreFull(pilvi: TestPilvi): Promise<void> {
  await until(
    "there is one slot of each engine, and nothing else",
    () =>
      [slotsOf(pilvi, "postgres"), slotsOf(pilvi, "mariadb")].every(
        (slots) => slots.length === 1 && slots[0]?.endsWith(".building") === false,
      ),
    60_000,
  );
}

/**
 * Kills the host at the fail point and checks that the create still succeeds and leaves nothing of the earlier slot.
 */
export async function playSlotKill(pilvi: TestPilvi, failpoints: Failpoints, place: string): Promise<void> {
  await untilSlotsAreFull(pilvi);
  failpoints.arm(place);
  const { id } = await orderCluster(pilvi);
  const host = await failpoints.reached();
  const whole = killPilvi(pilvi, ["host"]);
  failpoints.release();
  await whole;
  expect(isAlive(host)).toBe(false);
  const cluster = await untilCluster(pilvi, id, "available");
  await (await connectPg(cluster)).end();
  await untilSlotsAreFull(pilvi);
  const folder = join(pilvi.dataDir, "instances", id);
  expect(readdirSync(folder).filter((name) => name.startsWith("build"))).toBeEmpty();
  await deleteCluster(pilvi, id);
}
