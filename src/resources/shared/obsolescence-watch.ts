// Notices during a long run that its work is no longer wanted, such as that of a deleted resource, so that the run can
// be given up.
import { setTimeout as sleep } from "node:timers/promises";

const INTERVAL_MS = 1_000;

/** A watch of one run; call `end` when the run is over. */
interface ObsolescenceWatch {
  /** Aborted when the run has become obsolete. */
  obsolete: AbortSignal;
  end(): void;
}

/** Watches until the run is over. @param isObsolete looks into the store; its errors count as no. */
export function watchObsolete(
  isObsolete: () => Promise<boolean>,
  signal: AbortSignal,
  intervalMs = INTERVAL_MS,
): ObsolescenceWatch {
  const obsolete = new AbortController();
  const ended = new AbortController();
  const until = AbortSignal.any([signal, ended.signal]);
  const watch = async () => {
    while (!until.aborted) {
      await sleep(intervalMs, undefined, { signal: until }).catch(() => undefined);
      if (!until.aborted && (await isObsolete().catch(() => false))) return obsolete.abort();
    }
  };
  void watch();
  return { obsolete: obsolete.signal, end: () => ended.abort() };
}
