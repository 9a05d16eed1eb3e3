// Answers questions about the log of an environment: entries of processes and of the edge in the order of their times.
import type {
  EnvironmentLogEntry,
  EnvironmentLogQuery,
  EnvironmentLogSlice,
} from "../../../contracts/environment-logs.ts";
import type { StoredEntry } from "./entry.ts";
import type { EnvironmentLog } from "./environment-log.ts";
import { BYTES_AT_ONCE, SegmentReader, type Found, type Place } from "./segment-reader.ts";
import { selectionOf } from "./selection.ts";

/** How much one slice examines; a search of everything takes several slices. */
const SLICE_BYTES = 2 * 1024 ** 2;
/** How much a search for the last entries examines of each chain. */
const TAIL_BYTES = 64 * 1024 ** 2;
/** The interval at which a log without further entries is looked at again. */
const LOOK_MS = 100;

export async function readEnvironmentLog(
  log: EnvironmentLog,
  query: EnvironmentLogQuery,
  signal: AbortSignal,
): Promise<EnvironmentLogSlice> {
  const deadline = performance.now() + (query.waitMs ?? 0);
  for (let next = query.cursor; ;) {
    const { version } = log;
    const slice = await sliceOf(log, next === undefined ? query : { ...query, cursor: next });
    if (slice.entries.length > 0 || !slice.isEnd || slice.hasGap) return slice;
    while (log.version === version) {
      if (signal.aborted || performance.now() >= deadline) return slice;
      await Bun.sleep(LOOK_MS);
    }
    // What was examined already need not be read again.
    next = slice.next;
  }
}

async function sliceOf(log: EnvironmentLog, query: EnvironmentLogQuery): Promise<EnvironmentLogSlice> {
  const { cursor, tail, fromMs } = query;
  const places = cursor === undefined ? null : placesIn(cursor);
  const readers = [
    new SegmentReader(log.processes, places?.[0] ?? null),
    new SegmentReader(log.edge, places?.[1] ?? null),
  ] as const;
  if (cursor !== undefined) return await forward(readers, query);
  if (tail !== undefined) return await last(readers, query, tail);
  if (fromMs !== undefined) for (const reader of readers) reader.seek(fromMs);
  return await forward(readers, query);
}

type Readers = readonly [SegmentReader, SegmentReader];

async function forward(readers: Readers, query: EnvironmentLogQuery): Promise<EnvironmentLogSlice> {
  const isSelected = selectionOf(query);
  const entries: EnvironmentLogEntry[] = [];
  const hasGap = readers.some((reader) => reader.hasGap);
  const slice = (isEnd: boolean) => ({ entries, next: cursorOf(readers), isEnd, hasGap });
  let paused = 0;
  for (;;) {
    const [ofProcess, ofEdge] = [await readers[0].peek(), await readers[1].peek()];
    const isEdgeFirst = ofEdge !== null && (ofProcess === null || ofEdge.orderMs < ofProcess.orderMs);
    const found = isEdgeFirst ? ofEdge : ofProcess;
    if (found === null || (query.toMs !== undefined && found.orderMs >= query.toMs)) return slice(true);
    readers[isEdgeFirst ? 1 : 0].take();
    if (isSelected(found.entry)) entries.push(rendered(found.entry, cursorOf(readers)));
    const examined = readers[0].examined + readers[1].examined;
    if (entries.length === query.limit || examined > SLICE_BYTES) return slice(false);
    if (examined - paused < BYTES_AT_ONCE) continue;
    paused = examined;
    await Bun.sleep(0);
  }
}

/** The last entries. Those of both chains together have one position: the end. */
async function last(
  readers: Readers,
  query: EnvironmentLogQuery,
  tail: number,
): Promise<EnvironmentLogSlice> {
  const isSelected = selectionOf(query);
  const count = Math.min(tail, query.limit);
  const found: Found[] = [];
  const bounds = { count, foundBytes: SLICE_BYTES / readers.length, examinedBytes: TAIL_BYTES };
  for (const reader of readers) found.push(...(await reader.last(isSelected, bounds)));
  const next = cursorOf(readers);
  const entries = found
    .toSorted((a, b) => a.orderMs - b.orderMs)
    .slice(count === 0 ? found.length : -count)
    .map(({ entry }) => rendered(entry, next));
  return { entries, next, isEnd: true, hasGap: false };
}

function rendered({ t, l, y, m, i, d, x }: StoredEntry, cursor: string): EnvironmentLogEntry {
  return {
    cursor,
    at: new Date(t).toISOString(),
    level: l,
    type: y,
    message: m,
    instance: i ?? null,
    deployment: d ?? null,
    data: x ?? null,
  };
}

function cursorOf([processes, edge]: Readers): string {
  return [processes, edge].map(({ place: { sequence, offset } }) => `${sequence}.${offset}`).join(".");
}

function placesIn(cursor: string): [Place, Place] {
  const [sequence = 0, offset = 0, ofEdge = 0, offsetOfEdge = 0] = cursor.split(".").map(Number);
  return [
    { sequence, offset },
    { sequence: ofEdge, offset: offsetOfEdge },
  ];
}
