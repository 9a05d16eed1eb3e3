// The details that all kinds of resources with an engine have in common.

/** The parts of a resource that the details show. */
interface Described {
  id: string;
  attributes: { name: string; status: string; type: string; region: string; created_at: string };
  meta: {
    engine: { name: string; version: string; warning: string | null } | null;
    last_error: string | null;
    overdue: boolean;
    storage_bytes: number | null;
  };
}

/** Name and value of the first properties, one a row. */
export function headRows({ id, attributes, meta }: Described): string[][] {
  const { name, status, type, region, created_at: createdAt } = attributes;
  return [
    ["Name", name],
    ["Id", id],
    ["Status", meta.overdue ? `${status} (takes longer than it should)` : status],
    ...(meta.last_error === null ? [] : [["Last error", meta.last_error]]),
    ["Type", type],
    ["Region", region],
    ["Engine", engineText(meta.engine)],
    ...(meta.storage_bytes === null ? [] : [["Storage", bytesText(meta.storage_bytes)]]),
    ...(meta.engine === null || meta.engine.warning === null ? [] : [["Warning", meta.engine.warning]]),
    ["Created", createdAt],
  ];
}

/** An engine with its version in a few words. */
export function engineText(engine: { name: string; version: string } | null): string {
  return engine === null ? "not chosen yet" : `${engine.name} ${engine.version}`;
}

const UNITS = ["MiB", "GiB", "TiB"];

/** From so many on, the next unit is easier to read. */
const MANY = 10_000;

/** An amount of bytes in words. */
export function bytesText(bytes: number): string {
  let amount = bytes / 1024 ** 2;
  let unit = 0;
  for (; amount >= MANY && unit < UNITS.length - 1; unit++) amount /= 1024;
  return `${Math.round(amount)} ${UNITS[unit]}`;
}
