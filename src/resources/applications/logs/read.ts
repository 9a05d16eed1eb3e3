// Reads a page of the log of an environment from its host, slice by slice.
import type {
  EnvironmentLogEntry as HostEntry,
  EnvironmentLogQuery,
} from "../../../contracts/environment-logs.ts";
import { ApiError } from "../../../api/jsonapi/errors.ts";
import { PublicError } from "../../../lib/errors.ts";
import type { ServedHost } from "../../kind.ts";
import type { EnvironmentLogEntry, EnvironmentLogsDocument, EnvironmentLogsQuery } from "./schema.ts";

/** The most slices that one page searches; a search of everything that is kept takes several pages. */
const MAX_SLICES = 32;
const PER_PAGE = 500;
/** How long the host may take for a slice, which it reads from its disk. */
const SLICE_TIMEOUT_MS = 10_000;

/** What a page or a stream selects. */
export function environmentLogQueryOf(asked: EnvironmentLogsQuery): EnvironmentLogQuery {
  const { from, to, type = "all", query, cursor, tail, per_page: limit, deployment } = asked;
  return {
    ...(from !== undefined && { fromMs: Date.parse(from) }),
    ...(to !== undefined && { toMs: Date.parse(to) }),
    ...(type !== "all" && { types: [type] }),
    ...(query !== undefined && query !== "" && { text: query }),
    ...(asked.case_sensitive !== undefined && { isCaseSensitive: asked.case_sensitive }),
    ...(asked.whole_word !== undefined && { isWholeWord: asked.whole_word }),
    ...(asked["instances[]"] !== undefined && { instances: asked["instances[]"] }),
    ...(deployment !== undefined && { deployment }),
    ...(cursor !== undefined && { cursor }),
    ...(tail !== undefined && { tail }),
    limit: Math.max(1, limit ?? PER_PAGE),
  };
}

/** @throws ApiError 503 when the host does not answer. */
export async function readEnvironmentLogs(
  driver: ServedHost["driver"],
  id: string,
  asked: EnvironmentLogsQuery,
  signal: AbortSignal,
): Promise<EnvironmentLogsDocument> {
  const query = environmentLogQueryOf(asked);
  const data: EnvironmentLogEntry[] = [];
  let at: Partial<EnvironmentLogQuery> = {};
  for (let slices = 1; ; slices++) {
    const wanted = { ...query, ...at, limit: query.limit - data.length };
    const { entries, next, isEnd, hasGap } = await sliceOf(driver, id, wanted, signal);
    if (hasGap) data.push(gapBefore(entries));
    data.push(...entries.map(renderEntry));
    if (!isEnd && data.length < query.limit && slices < MAX_SLICES) {
      at = { cursor: next };
      continue;
    }
    const { type = "all", from = null, to = null } = asked;
    return { data, meta: { cursor: next, is_complete: isEnd, type, from, to } };
  }
}

async function sliceOf(
  driver: ServedHost["driver"],
  id: string,
  query: EnvironmentLogQuery,
  signal: AbortSignal,
) {
  try {
    const ends = AbortSignal.any([signal, AbortSignal.timeout(SLICE_TIMEOUT_MS)]);
    return await driver.environmentLogs(id, query, ends);
  } catch (cause) {
    if (!(cause instanceof PublicError)) throw cause;
    throw new ApiError(503, cause.message, { headers: { "Retry-After": "2" }, cause });
  }
}

/** Stands in the place of entries that the client has not received, and that are no longer kept. */
export function gapBefore([first]: readonly HostEntry[]): EnvironmentLogEntry {
  return {
    message: "Entries are missing here: they are no longer kept.",
    level: "warning",
    type: "system",
    logged_at: first?.at ?? new Date().toISOString(),
    instance_id: null,
    deployment_id: null,
    data: null,
  };
}

/** An entry as the API has it. */
export function renderEntry(entry: HostEntry): EnvironmentLogEntry {
  const { message, level, type, at, instance, deployment, data } = entry;
  return { message, level, type, logged_at: at, instance_id: instance, deployment_id: deployment, data };
}
