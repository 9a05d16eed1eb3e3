// Declares the operation that reads or follows the log of a resource's engine.
import type { z } from "zod";
import { invalid, notFound, type FieldErrors } from "../../../api/jsonapi/errors.ts";
import {
  LAST_EVENT_ID,
  operation,
  type Operation,
  type OperationRequest,
} from "../../../api/operation/operation.ts";
import { endlessStream } from "../../../api/operation/endless-stream.ts";
import { LOG_CURSOR } from "../../../contracts/logs.ts";
import type { KindContext } from "../../kind.ts";
import { STREAM_HEADERS } from "../event-stream.ts";
import { logsDocument, logsQuery, type LogsQuery } from "../logs-schema.ts";
import { StreamPlaces } from "../stream-places.ts";
import { followLog } from "./follow.ts";
import { GAP, logQueryOf, readLogs, renderLine } from "./read.ts";

/** What differs between the kinds. */
interface LogsRoute {
  kind: "caches" | "databases" | "websockets";
  path: string;
  operationId: string;
  tag: string;
  noun: string;
  params: z.ZodObject<{ id: z.ZodString }>;
  find(organizationId: string, id: string): Promise<{ id: string; hostId: string } | undefined>;
}

const description =
  "What its engine has written, the oldest line first: the last 16 MiB, over all its starts. With `follow`, each line when it is written. Reading wakes nothing. Lines may quote statements and values of the resource, so the ability to see its credentials is needed.";

type Request = OperationRequest<unknown, LogsQuery, { id: string }>;

/** The operation, which needs the ability to see the credentials of the kind. */
export function logsOperation(context: KindContext, route: LogsRoute): Operation {
  const { kind, path, operationId, tag, noun, params, find } = route;
  const places = new StreamPlaces("logs");
  return operation({
    method: "GET",
    path,
    operationId,
    tag,
    summary: `Read the log of a ${noun}`,
    description,
    ability: `${kind}:credentials`,
    params,
    query: logsQuery,
    success: {
      status: 200,
      description: "A page of lines, or a stream of them.",
      schema: logsDocument,
      stream:
        "Messages with a position as `id` and a line as `data`; `event: bookmark` has no line, but a position to go on after.",
    },
    async handle(request) {
      const { principal, params: asked, query, signal } = request;
      const row = await find(principal.organizationId, asked.id);
      if (row === undefined) throw notFound(noun);
      if (query.follow !== undefined) {
        const isThere = async () => (await find(principal.organizationId, row.id)) !== undefined;
        return { stream: follow(context, request, row, places, isThere), headers: STREAM_HEADERS };
      }
      const { driver } = context.hosts.of(row.hostId);
      const document = await readLogs(driver, row.id, logQueryOf(query), signal);
      return { document };
    },
  });
}

/** @throws ApiError 422, 429 */
function follow(
  { db, hosts }: KindContext,
  { principal, query: asked, signal, closing, lastEventId }: Request,
  { id, hostId }: { id: string; hostId: string },
  places: StreamPlaces,
  isThere: () => Promise<boolean>,
): ReadableStream<Uint8Array> {
  const errors: FieldErrors = {};
  for (const name of ["to", "per_page"] as const)
    if (asked[name] !== undefined) errors[name] = [`The field ${name} does not go with follow.`];
  if (lastEventId !== null && !LOG_CURSOR.test(lastEventId))
    errors[LAST_EVENT_ID] = ["A Last-Event-ID is the id of a message of the log."];
  if (Object.keys(errors).length > 0) throw invalid(errors);
  const cursor = lastEventId ?? asked.cursor;
  const begins = asked.from !== undefined || asked.tail !== undefined;
  const query = {
    ...logQueryOf(asked),
    ...(cursor !== undefined ? { cursor } : begins ? {} : { tail: 0 }),
  };
  const { driver } = hosts.of(hostId);
  const read = async (after: string | undefined, waitMs: number, ending: AbortSignal) => {
    const from = { ...query, ...(after !== undefined && { cursor: after }), waitMs };
    const { lines, next, hasGap } = await driver.logs(id, from, ending);
    const entries = lines.map((line) => ({ cursor: line.cursor, entry: renderLine(line) }));
    return { entries, next, gap: hasGap ? GAP : null };
  };
  const onEnd = places.take(principal);
  return endlessStream({
    chunksOf: (ended) => followLog({ db, principal, isThere, cursor, read }, ended),
    signals: [signal, closing],
    onEnd,
  });
}
