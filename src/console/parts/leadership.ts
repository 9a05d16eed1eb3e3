// Work that one tab of a browser does for all: the tab that holds a lock leads, and another follows when it ends.

/** A lock that this tab holds. */
interface Lease {
  /** Aborted when another tab has taken the lock away. */
  lost: AbortSignal;
  release(): void;
}

/** Whether this browser can choose a tab. Browsers have locks over HTTPS and on the own machine only. */
export function canLead(): boolean {
  return "locks" in navigator && "BroadcastChannel" in globalThis;
}

/**
 * Waits for the lock, and then does the work, until the work ends by itself or the signal is aborted.
 * @param work.onLost called when another tab has taken the lock away.
 * @param work.awaitSilence resolves when the tab that leads no longer answers, as a frozen tab does; this tab then takes
 * the lock away from it.
 */
export async function leadInTurn(
  name: string,
  work: {
    lead(signal: AbortSignal): Promise<void>;
    onLost(): void;
    awaitSilence(signal: AbortSignal): Promise<void>;
  },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const lease = await nextLease(name, work.awaitSilence, signal);
    if (lease === undefined) return;
    try {
      await work.lead(AbortSignal.any([signal, lease.lost]));
      if (!lease.lost.aborted) return;
      work.onLost();
    } finally {
      lease.release();
    }
  }
}

/** @returns undefined when the signal is aborted. */
async function nextLease(
  name: string,
  awaitSilence: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<Lease | undefined> {
  const decided = new AbortController();
  const waiting = AbortSignal.any([signal, decided.signal]);
  const queued = acquire(name, { signal: waiting }).catch(() => undefined);
  const first = await Promise.race([queued, awaitSilence(waiting).then(() => "silence" as const)]);
  decided.abort();
  if (first !== "silence") return first;
  return await acquire(name, { steal: true });
}

/** @throws when the wait was given up. */
async function acquire(name: string, options: LockOptions): Promise<Lease> {
  const lost = new AbortController();
  const acquired = Promise.withResolvers<Lease>();
  const released = Promise.withResolvers<void>();
  const hold = async () => {
    acquired.resolve({ lost: lost.signal, release: () => released.resolve() });
    await released.promise;
  };
  navigator.locks.request(name, options, hold).catch((error: unknown) => {
    lost.abort();
    acquired.reject(error);
  });
  return await acquired.promise;
}
