// Keeps the machine at work before something is measured: on a virtual machine the first work after a pause takes any
// program tens of milliseconds, and that would be measured on one side of a comparison only.
import type { TestPilvi } from "../../tests/support/pilvi/pilvi.ts";

/** What the last round left for the kernel and the processes to do has settled after this. */
const SETTLE_MS = 100;

/** Asks Pilvi one thing after the other for so many milliseconds; the same before either side. */
export async function settle(pilvi: TestPilvi, settleMs = SETTLE_MS): Promise<void> {
  const settledAt = performance.now() + settleMs;
  while (performance.now() < settledAt) await pilvi.api("GET", "/databases/clusters");
}
