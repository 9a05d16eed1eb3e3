// Stops all instances of a host that ends.
import { killEngine } from "../engine/engine-process.ts";
import type { Instance } from "./instance.ts";

/** A host that takes 90 s to end is killed, and its engines would run on without a host. */
export const MAX_END_MS = 80_000;

/** Stops all engines cleanly. Applications, whose customers choose how long they may take to end, are killed in time. */
export async function closeAll(instances: Iterable<Instance>, maxEndMs = MAX_END_MS): Promise<void> {
  const all = [...instances];
  const timer = setTimeout(() => killApplications(all), maxEndMs);
  await Promise.all(all.map((instance) => instance.close())).finally(() => clearTimeout(timer));
}

function killApplications(instances: readonly Instance[]): void {
  for (const { source, liveProcess } of instances) {
    if (source.manifest?.spec.kind === "application" && liveProcess !== null) killEngine(liveProcess);
  }
}
