// Runs an asynchronous task for each of many items, a few at a time, and leaves none running when one has failed.

/**
 * Resolves when the task has ended for every item. The first failure ends the others by their signal, and rejects when
 * none runs any more.
 */
export async function eachAtOnce<T>(
  items: Iterable<T>,
  limit: number,
  signal: AbortSignal,
  task: (item: T, signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const failing = new AbortController();
  const ends = AbortSignal.any([signal, failing.signal]);
  const rest = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = rest.next(); next.done !== true && !ends.aborted; next = rest.next())
      await task(next.value, ends);
  };
  const guarded = async () => await worker().catch((error: unknown) => failing.abort(error));
  await Promise.all(Array.from({ length: limit }, guarded));
  ends.throwIfAborted();
}
