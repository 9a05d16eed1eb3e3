// Ids of resources: the kind's prefix and a UUID whose beginning is the time, so that they sort by age.

/** A new id, for example `cache-0193...`; unique everywhere. */
export function newId(prefix: string): string {
  return `${prefix}-${Bun.randomUUIDv7()}`;
}
