// Makes the items of a sequence in order, each while the item before it is used.

/** @param count of the items. @param make makes the item with an index; its error comes in the item's turn. */
export async function* ahead<T>(count: number, make: (index: number) => Promise<T>): AsyncGenerator<T> {
  const begin = (index: number) => {
    if (index >= count) return null;
    const item = make(index);
    // The reader of the item gets its error; without a reader, it is no failure.
    item.catch(() => undefined);
    return item;
  };
  let next = begin(0);
  for (let index = 1; next !== null; index += 1) {
    const item: T = await next;
    next = begin(index);
    yield item;
  }
}
