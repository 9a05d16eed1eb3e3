// The outcomes of the runs of an environment's reconciler.
import type { Outcome } from "../../../reconciler/loop.ts";
import type { ApplicationProcess } from "./processes.ts";

/** The pause before a look at processes that are ending. */
const ENDING_MS = 500;

/**
 * The next run is due when the first retiring process may be ended, or before. A process that takes its time to end is
 * looked at again and again.
 * @param wakeAt when the wake interval needs a run; null without one.
 */
export function settled(processes: readonly ApplicationProcess[], wakeAt: Date | null = null): Outcome {
  const retirements = processes.flatMap(({ retiresAt }) => (retiresAt === null ? [] : [retiresAt]));
  const times = [...retirements, ...(wakeAt === null ? [] : [wakeAt])].map((time) => time.getTime());
  if (times.length === 0) return { result: { settled: true } };
  return {
    result: { settled: true, againAt: new Date(Math.max(Math.min(...times), Date.now() + ENDING_MS)) },
  };
}

/** The outcome of a run after which processes still end, so that another run is due soon. */
export function beforeEnding(outcome: Outcome): Outcome {
  const { result } = outcome;
  if (result === "gone" || !result.settled) return outcome;
  const soon = Date.now() + ENDING_MS;
  return {
    ...outcome,
    result: { settled: true, againAt: new Date(Math.min(soon, result.againAt?.getTime() ?? soon)) },
  };
}

/** Processes are ending. */
export function ending(): Outcome {
  return again(ENDING_MS, null);
}

/** The next run is due after a pause. */
export function again(retryMs: number, lastError: string | null): Outcome {
  return { result: { settled: false, retryMs, lastError } };
}
