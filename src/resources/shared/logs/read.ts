// Reads a page of a log from its host, slice by slice.
import type { LogLine, LogQuery } from "../../../contracts/logs.ts";
import type { Driver } from "../../../drivers/driver.ts";
import { PublicError } from "../../../lib/errors.ts";
import { ApiError } from "../../../api/jsonapi/errors.ts";
import type { LogEntry, LogsDocument, LogsQuery } from "../logs-schema.ts";

/** The most slices that one page searches; a search of everything that is kept takes several pages. */
const MAX_SLICES = 64;

const PER_PAGE = 500;

/** How long the host may take for a slice, which it reads from its disk. */
const SLICE_TIMEOUT_MS = 10_000;

/** What a page or a stream selects. */
export function logQueryOf({ from, to, query, cursor, tail, per_page: limit }: LogsQuery): LogQuery {
  return {
    ...(from !== undefined && { fromMs: Date.parse(from) }),
    ...(to !== undefined && { toMs: Date.parse(to) }),
    ...(query !== undefined && query !== "" && { text: query }),
    ...(cursor !== undefined && { cursor }),
    ...(tail !== undefined && { tail }),
    limit: Math.max(1, limit ?? PER_PAGE),
  };
}

/** @throws ApiError 503 when the host does not answer. */
export async function readLogs(
  driver: Driver,
  id: string,
  query: LogQuery,
  signal: AbortSignal,
): Promise<LogsDocument> {
  const data: LogEntry[] = [];
  let at: Partial<LogQuery> = {};
  for (let slices = 1; ; slices++) {
    const slice = await sliceOf(driver, id, { ...query, ...at, limit: query.limit - data.length }, signal);
    if (slice.hasGap) data.push(GAP);
    data.push(...slice.lines.map(renderLine));
    const isFull = data.length >= query.limit || slices === MAX_SLICES;
    if (slice.isEnd || isFull) return { data, meta: { cursor: slice.next, is_complete: slice.isEnd } };
    at = { cursor: slice.next };
  }
}

async function sliceOf(driver: Driver, id: string, query: LogQuery, signal: AbortSignal) {
  try {
    return await driver.logs(id, query, AbortSignal.any([signal, AbortSignal.timeout(SLICE_TIMEOUT_MS)]));
  } catch (cause) {
    if (!(cause instanceof PublicError)) throw cause;
    throw new ApiError(503, cause.message, { headers: { "Retry-After": "2" }, cause });
  }
}

/** Stands in the place of lines that the client has not received, and that are no longer kept. */
export const GAP: LogEntry = {
  message: "Lines are missing here: they are no longer kept.",
  level: "warning",
  type: "system",
  logged_at: null,
};

/** A line as an entry of the API. */
export function renderLine({ message, level, isNote, at }: LogLine): LogEntry {
  return { message, level, type: isNote ? "system" : "engine", logged_at: at };
}
