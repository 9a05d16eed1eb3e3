// What a process may have to wait for until a former process in its place has ended.

/** A process whose `pilvi up` was killed notices and ends; the next process waits that long for it. */
const TAKEOVER_TIMEOUT_MS = 5_000;
const TAKEOVER_RETRY_MS = 20;

/**
 * Tries again until an attempt succeeds.
 * @param stop ends the wait.
 * @returns whether an attempt has succeeded; false once the former process stays.
 */
export async function takesOver(attempt: () => boolean, stop?: AbortSignal): Promise<boolean> {
  const giveUpAt = performance.now() + TAKEOVER_TIMEOUT_MS;
  while (!attempt()) {
    if (stop?.aborted === true || performance.now() > giveUpAt) return false;
    await Bun.sleep(TAKEOVER_RETRY_MS);
  }
  return true;
}
