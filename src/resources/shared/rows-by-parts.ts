// Reads rows with large columns in parts, for answers that may be full before all of them are read.

/** So many rows are in memory at once. */
const ROWS_AT_ONCE = 50;

/**
 * The rows with these ids, each once, in the order of the ids.
 * @param read reads the rows with some of the ids, in that order.
 */
export async function* rowsByParts<Row>(
  ids: readonly string[],
  read: (some: string[]) => Promise<Row[]>,
): AsyncGenerator<Row, void> {
  const once = [...new Set(ids)];
  for (let at = 0; at < once.length; at += ROWS_AT_ONCE) yield* await read(once.slice(at, at + ROWS_AT_ONCE));
}
