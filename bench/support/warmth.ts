// Keeps the machine at work before a measurement: on a virtual machine the first work after a pause takes any program
// tens of milliseconds, which would count for one side of a comparison only.
import type { TestPilvi } from "../../tests/support/pilvi/pilvi.ts";

/** The kernel and the processes have settled after this time since the last round. */
const SETTLE_MS = 100;

/** Sends requests to Pilvi one after another for this time; the same before either side. */
export async function settle(pilvi: TestPilvi, settleMs = SETTLE_MS): Promise<void> {
  const settledAt = performance.now() + settleMs;
  while (performance.now() < settledAt) await pilvi.api("GET", "/databases/clusters");
}
