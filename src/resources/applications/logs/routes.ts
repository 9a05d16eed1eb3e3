// The operation that reads or follows the log of an environment.
import { invalid, notFound, type FieldErrors } from "../../../api/jsonapi/errors.ts";
import { endlessStream } from "../../../api/operation/endless-stream.ts";
import {
  LAST_EVENT_ID,
  operation,
  type Operation,
  type OperationRequest,
} from "../../../api/operation/operation.ts";
import { ENVIRONMENT_LOG_CURSOR } from "../../../contracts/environment-logs.ts";
import type { KindContext } from "../../kind.ts";
import { STREAM_HEADERS } from "../../shared/event-stream.ts";
import { followLog } from "../../shared/logs/follow.ts";
import { StreamPlaces } from "../../shared/stream-places.ts";
import { KIND } from "../create.ts";
import { findEnvironment, type EnvironmentRow } from "../environments/store.ts";
import { environmentParams } from "../params.ts";
import { environmentLogQueryOf, gapBefore, readEnvironmentLogs, renderEntry } from "./read.ts";
import { environmentLogsDocument, environmentLogsQuery, type EnvironmentLogsQuery } from "./schema.ts";

type Request = OperationRequest<unknown, EnvironmentLogsQuery, { id: string }>;

/** Lines of an application may have values of its customers, so the ability to see credentials is needed. */
export function environmentLogOperation(context: KindContext): Operation {
  const { db, hosts } = context;
  const places = new StreamPlaces("logs");
  return operation({
    method: "GET",
    path: "/environments/:id/logs",
    operationId: "readEnvironmentLogs",
    tag: "Environments",
    summary: "Read the log of an environment",
    description:
      "What its processes write, former and crashed ones among them, the requests at its address, and what Pilvi did, the oldest entry first. It is kept for 7 days and up to 256 MB unless the operator has chosen otherwise; requests go first. With `follow`, each entry when it is there. Reading wakes nothing. Entries may have values of the application, so the ability to see its credentials is needed.",
    ability: `${KIND}:credentials`,
    params: environmentParams,
    query: environmentLogsQuery,
    success: {
      status: 200,
      description: "A page of entries, or a stream of them.",
      schema: environmentLogsDocument,
      stream:
        "Messages with a position as `id` and an entry as `data`; `event: bookmark` has no entry, but a position to go on after.",
    },
    async handle(request) {
      const { principal, params, query, signal } = request;
      const row = await findEnvironment(db, principal.organizationId, params.id);
      if (row === undefined) throw notFound("environment");
      if (query.follow !== undefined)
        return { stream: follow(context, request, row, places), headers: STREAM_HEADERS };
      const { driver } = hosts.of(row.hostId);
      return { document: await readEnvironmentLogs(driver, row.id, query, signal) };
    },
  });
}

/** @throws ApiError 422, 429 */
function follow(
  { db, hosts }: KindContext,
  { principal, query: asked, signal, closing, lastEventId }: Request,
  { id, hostId, organizationId }: EnvironmentRow,
  places: StreamPlaces,
): ReadableStream<Uint8Array> {
  const errors: FieldErrors = {};
  for (const name of ["to", "per_page"] as const)
    if (asked[name] !== undefined) errors[name] = [`The field ${name} does not go with follow.`];
  if (lastEventId !== null && !ENVIRONMENT_LOG_CURSOR.test(lastEventId))
    errors[LAST_EVENT_ID] = ["A Last-Event-ID is the id of a message of the log."];
  if (Object.keys(errors).length > 0) throw invalid(errors);
  const begins = asked.from !== undefined || asked.tail !== undefined;
  const query = { ...environmentLogQueryOf(asked), ...(begins ? {} : { tail: 0 }) };
  const { driver } = hosts.of(hostId);
  const read = async (after: string | undefined, waitMs: number, ending: AbortSignal) => {
    const from = { ...query, ...(after !== undefined && { cursor: after }), waitMs };
    const { entries, next, hasGap } = await driver.environmentLogs(id, from, ending);
    return {
      entries: entries.map((entry) => ({ cursor: entry.cursor, entry: renderEntry(entry) })),
      next,
      gap: hasGap ? gapBefore(entries) : null,
    };
  };
  const isThere = async () => (await findEnvironment(db, organizationId, id)) !== undefined;
  const cursor = lastEventId ?? asked.cursor;
  const onEnd = places.take(principal);
  return endlessStream({
    chunksOf: (ended) => followLog({ db, principal, isThere, cursor, read }, ended),
    signals: [signal, closing],
    onEnd,
  });
}
