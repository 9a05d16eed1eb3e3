// Runs an asynchronous task for each of many items, a few at a time.

/** Resolves when the task has ended for every item; the first failure rejects, the others still run. */
export async function forEachLimited<T>(
  items: Iterable<T>,
  limit: number,
  task: (item: T) => Promise<unknown>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await task(next.value);
  };
  await Promise.all(Array.from({ length: limit }, worker));
}
