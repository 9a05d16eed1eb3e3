// The outcomes of the runs of an environment's reconciler.
import type { Outcome } from "../../../reconciler/loop.ts";
import type { ApplicationProcess } from "./processes.ts";

/**
 * The next run is due when the first retiring process may be ended, or before.
 * @param wakeAt when the wake interval needs a run; null without one.
 */
export function settled(processes: readonly ApplicationProcess[], wakeAt: Date | null = null): Outcome {
  const retirements = processes.flatMap(({ retiresAt }) => (retiresAt === null ? [] : [retiresAt]));
  const times = [...retirements, ...(wakeAt === null ? [] : [wakeAt])].map((time) => time.getTime());
  return { result: { settled: true, ...(times.length > 0 && { againAt: new Date(Math.min(...times)) }) } };
}

/** The next run is due after a pause. */
export function again(retryMs: number, lastError: string | null): Outcome {
  return { result: { settled: false, retryMs, lastError } };
}
