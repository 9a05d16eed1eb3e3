// Stops of Pilvi by signals, also in the middle of its start.
import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { freshDataDir, pilviEnv, startPilvi, until } from "../../support/pilvi/pilvi.ts";
import { freePort } from "../../support/pilvi/ports.ts";
import { processesAt, spawnPilvi } from "../../support/pilvi/program.ts";

/** Interrupts a first start after a time; nothing runs then, and a later start succeeds. */
export async function expectStop(delayMs: number): Promise<void> {
  const dataDir = freshDataDir();
  const child = spawnPilvi(["up"], pilviEnv(dataDir, freePort()));
  await until("it has begun", () => existsSync(join(dataDir, "up.lock")));
  await Bun.sleep(delayMs);
  child.kill("SIGINT");
  expect(await child.exited).toBe(0);
  expect(processesAt(dataDir)).toEqual([]);
  await (await startPilvi({ dataDir })).close();
}

/** Stops a running Pilvi by a signal that comes twice; nothing runs then. */
export async function expectStopBy(signal: NodeJS.Signals): Promise<void> {
  const pilvi = await startPilvi();
  await pilvi.createCache();
  process.kill(pilvi.pid, signal);
  expect(await pilvi.stop(signal)).toBe(0);
  expect(processesAt(pilvi.dataDir)).toEqual([]);
  await pilvi.close();
}
