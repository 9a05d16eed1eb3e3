// The memory of Pilvi's own processes, without its store and without engines.
import type { TestPilvi } from "../../tests/support/pilvi/pilvi.ts";
import { memoryOf, type Memory } from "./memory.ts";

/** By then the garbage of the last work is collected. */
const SETTLE_MS = 10_000;

/** The pid of the gateway. @throws when it does not run. */
export function gatewayPid(pilvi: TestPilvi): number {
  const pid = pilvi.pidOf("gateway");
  if (pid === undefined) throw new Error("there is no gateway");
  return pid;
}

/** The memory of `up`, host, control plane, gateway and keeper together when they are at rest. */
export async function restingMemory(pilvi: TestPilvi, settleMs = SETTLE_MS): Promise<Memory> {
  await Bun.sleep(settleMs);
  const [control, host, keeper] = [pilvi.pidOf("control"), pilvi.pidOf("host"), pilvi.pidOf("keeper")];
  if (control === undefined || host === undefined || keeper === undefined)
    throw new Error("Pilvi does not run");
  return memoryOf([pilvi.pid, control, host, gatewayPid(pilvi), keeper]);
}

/** The memory of a process at rest. */
export async function restingMemoryOf(pid: number): Promise<Memory> {
  await Bun.sleep(SETTLE_MS);
  return memoryOf([pid]);
}
