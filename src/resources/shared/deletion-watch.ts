// Notices during a long run that its resource is to be deleted, so that the run can be given up.
import { setTimeout as sleep } from "node:timers/promises";

const INTERVAL_MS = 1_000;

/** A watch of one run; call `end` when the run is over. */
interface DeletionWatch {
  /** Aborted when somebody has deleted the resource. */
  deleted: AbortSignal;
  end(): void;
}

/** Watches until the run is over. @param isDeleting looks into the store; its errors count as no. */
export function watchDeletion(isDeleting: () => Promise<boolean>, signal: AbortSignal): DeletionWatch {
  const deleted = new AbortController();
  const ended = new AbortController();
  const until = AbortSignal.any([signal, ended.signal]);
  const watch = async () => {
    while (!until.aborted) {
      await sleep(INTERVAL_MS, undefined, { signal: until }).catch(() => undefined);
      if (!until.aborted && (await isDeleting().catch(() => false))) return deleted.abort();
    }
  };
  void watch();
  return { deleted: deleted.signal, end: () => ended.abort() };
}
