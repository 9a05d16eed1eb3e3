// The operation that runs a statement in a database.
import { recordAudit } from "../../../api/auth/audit.ts";
import { ApiError, notFound } from "../../../api/jsonapi/errors.ts";
import { operation, type Operation, type OperationRequest } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { loginOf } from "../login.ts";
import { schemaParams } from "../params.ts";
import type { DatabaseRow } from "../schemas/store.ts";
import { findDatabaseCluster, type DatabaseClusterRow } from "../store.ts";
import { NoSession, StatementEnded, StatementRefused } from "./faults.ts";
import { MAX_TIMEOUT_SECONDS } from "./limits.ts";
import { runStatement, type TimedResult } from "./run.ts";
import { newQuery, queryDocument, type NewQuery, type QueryDocument } from "./schema.ts";
import { QuerySlots } from "./slots.ts";

type QueryRequest = OperationRequest<NewQuery, unknown, { id: string; schema: string }>;

/**
 * The operation needs the ability to see credentials, and no other: a program with the password runs any statement at
 * the engine itself, so an ability of its own for writing would protect nothing.
 */
export function queryOperation(context: KindContext): Operation {
  const slots = new QuerySlots();
  return operation({
    method: "POST",
    path: "/databases/clusters/:id/databases/:schema/query",
    operationId: "runQuery",
    tag: "Databases",
    summary: "Run a statement in a database",
    description: `Logs in with the cluster's own credentials, so a sleeping cluster wakes, and answers with the result. A statement of which only the beginning of the result is kept is \`truncated\`. A fault in the statement answers 422 with \`engine\`, in the engine's own words. Ending the request cancels the statement, and so does the deadline of ${MAX_TIMEOUT_SECONDS} s at most. The activity notes that a statement ran, without its text.`,
    ability: "databases:credentials",
    params: schemaParams,
    body: newQuery,
    canConflict: true,
    success: { status: 200, description: "The result.", schema: queryDocument },
    async handle(request) {
      const { principal, params, body } = request;
      const { cluster, database } = await findUsable(context, request);
      const release = slots.take(principal.familyId, params.id);
      try {
        await noteQuery(context, request, database);
        const timed = await runStatement(
          { ...loginOf(cluster, context), database: database.name },
          {
            text: body.statement,
            isReadOnly: body.read_only,
            maxRows: body.max_rows,
            timeoutMs: body.timeout_seconds * 1000,
          },
          AbortSignal.any([request.signal, request.closing]),
        );
        return { document: documentOf(timed) };
      } catch (error) {
        throw answerTo(error);
      } finally {
        release();
      }
    },
  });
}

async function findUsable(
  { db }: KindContext,
  { principal, params }: QueryRequest,
): Promise<{ cluster: DatabaseClusterRow; database: DatabaseRow }> {
  const cluster = await findDatabaseCluster(db, principal.organizationId, params.id);
  if (cluster === undefined) throw notFound("database cluster");
  const database = cluster.schemas.find(({ id }) => id === params.schema);
  if (database === undefined) throw notFound("database");
  for (const { status, noun } of [
    { status: cluster.status, noun: "cluster" },
    { status: database.status, noun: "database" },
  ]) {
    if (status === "creating" || status === "deleting") throw new ApiError(409, `The ${noun} is ${status}.`);
  }
  return { cluster, database };
}

/** Without the text, which may hold secrets and personal data. */
async function noteQuery(
  { db }: KindContext,
  { principal, requestId, params: { id }, body }: QueryRequest,
  { name }: DatabaseRow,
): Promise<void> {
  const details = { database: name, read_only: body.read_only };
  const entry = { principal, requestId, action: "query", kind: "databases", id, details };
  await db.begin(async (tx) => await recordAudit(tx, entry));
}

function documentOf({ result, durationMs }: TimedResult): QueryDocument {
  const { columns, rows, rowCount, command, isTruncated, cutCells, notices } = result;
  return {
    data: {
      columns,
      rows,
      row_count: rowCount,
      command,
      duration_ms: Math.round(durationMs * 100) / 100,
      truncated: isTruncated,
      cut_cells: cutCells,
      notices,
    },
  };
}

function answerTo(error: unknown): unknown {
  if (error instanceof NoSession) return new ApiError(409, error.message, { cause: error });
  if (!(error instanceof StatementRefused) && !(error instanceof StatementEnded)) return error;
  const engine = error instanceof StatementRefused ? error.fault : undefined;
  return new ApiError(422, error.message, {
    errors: { statement: [error.message] },
    ...(engine && { engine }),
  });
}
