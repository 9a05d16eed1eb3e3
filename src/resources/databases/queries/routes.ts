// The operations about what runs in a database cluster, and what its statements have taken. They wake nothing.
import { recordAudit } from "../../../api/auth/audit.ts";
import { ApiError, notFound } from "../../../api/jsonapi/errors.ts";
import { JSON_API } from "../../../api/jsonapi/jsonapi.ts";
import { operation, type Operation, type OperationRequest } from "../../../api/operation/operation.ts";
import { PublicError } from "../../../lib/errors.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import { clusterParams } from "../params.ts";
import { findDatabaseCluster, type DatabaseClusterRow } from "../store.ts";
import { protocolOf, protocols } from "../types.ts";
import { renderQueries, renderStatements } from "./render.ts";
import {
  cancelQuery,
  DEFAULT_STATEMENTS,
  queriesDocument,
  queriesQuery,
  queryParams,
  statementsDocument,
  statementsQuery,
} from "./schema.ts";

const tag = "Database Queries";
const QUERIES = "/databases/clusters/:id/queries";
const STATEMENTS = "/databases/clusters/:id/statements";

export function databaseQueryOperations(context: KindContext): Operation[] {
  return [list(context), cancel(context), statements(context), reset(context)];
}

function list(context: KindContext): Operation {
  return operation({
    method: "GET",
    path: QUERIES,
    operationId: "listDatabaseClusterQueries",
    tag,
    summary: "List the running queries of a database cluster",
    description:
      "The sessions that run a statement or have a transaction open, the busy sessions first, the longest of them before all others. Pilvi's own sessions are left out. Nothing is woken, and nothing kept awake.",
    ability: "databases:read",
    params: clusterParams,
    query: queriesQuery,
    success: { status: 200, description: "The queries.", schema: queriesDocument, contentType: JSON_API },
    async handle({ principal, params: { id }, query: { idle } }) {
      const cluster = await found(context, principal, id);
      const answer = await asked(context, cluster, (driver) =>
        driver.queries(id, { withIdle: idle === "true" }),
      );
      return { document: renderQueries(answer) };
    },
  });
}

function cancel(context: KindContext): Operation {
  return operation({
    method: "DELETE",
    path: `${QUERIES}/:query`,
    operationId: "cancelDatabaseClusterQuery",
    tag,
    summary: "Cancel a query of a database cluster",
    description:
      "Cancels the statement or, with `scope=session`, ends the session. An id stands for one run: a statement that has ended, or a later statement of the session, is a 404. The engine ends the statement as soon as it can.",
    ability: "databases:write",
    params: queryParams,
    query: cancelQuery,
    canConflict: true,
    success: { status: 204, description: "The engine was asked to end it." },
    async handle(request) {
      const { principal, params, query } = request;
      const cluster = await found(context, principal, params.id);
      await record(context, request, query.scope === "session" ? "end-session" : "cancel-query", {
        query: params.query,
      });
      const { outcome } = await asked(context, cluster, (driver) =>
        driver.cancel(params.id, params.query, query.scope),
      );
      if (outcome === "ended") throw notFound("query any more");
      if (outcome === "idle")
        throw new ApiError(
          409,
          "The session runs no statement, but has a transaction open. Only the session as a whole can be ended.",
        );
      return {};
    },
  });
}

function statements(context: KindContext): Operation {
  return operation({
    method: "GET",
    path: STATEMENTS,
    operationId: "listDatabaseClusterStatements",
    tag,
    summary: "List the slow statements of a database cluster",
    description:
      "What the statements of a Postgres have taken, without their constants, from `pg_stat_statements`. Figures outlive a sleep. Nothing is woken, and nothing kept awake.",
    ability: "databases:read",
    params: clusterParams,
    query: statementsQuery,
    canConflict: true,
    success: {
      status: 200,
      description: "The statements.",
      schema: statementsDocument,
      contentType: JSON_API,
    },
    async handle({ principal, params: { id }, query: { sort, limit = DEFAULT_STATEMENTS } }) {
      const cluster = await found(context, principal, id);
      refuseWithoutStatistics(cluster);
      const answer = await asked(context, cluster, (driver) => driver.statements(id, { order: sort, limit }));
      return { document: renderStatements(answer, sort) };
    },
  });
}

function reset(context: KindContext): Operation {
  return operation({
    method: "DELETE",
    path: STATEMENTS,
    operationId: "resetDatabaseClusterStatements",
    tag,
    summary: "Begin the figures of statements anew",
    description: "Sets the figures of all statements to zero. The cluster must be awake.",
    ability: "databases:write",
    params: clusterParams,
    canConflict: true,
    success: { status: 204, description: "The figures begin anew." },
    async handle(request) {
      const { id } = request.params;
      const cluster = await found(context, request.principal, id);
      refuseWithoutStatistics(cluster);
      await record(context, request, "reset-statements", {});
      await asked(context, cluster, (driver) => driver.resetStatements(id));
      return {};
    },
  });
}

async function found(
  { db }: KindContext,
  { organizationId }: OperationRequest["principal"],
  id: string,
): Promise<DatabaseClusterRow> {
  const cluster = await findDatabaseCluster(db, organizationId, id);
  if (cluster === undefined) throw notFound("database cluster");
  return cluster;
}

/** @throws ApiError 409 for an engine without statistics of statements. */
function refuseWithoutStatistics({ type }: DatabaseClusterRow): void {
  if (protocols[protocolOf(type)].hasStatementStatistics) return;
  throw new ApiError(
    409,
    "A MySQL cluster keeps no figures of its statements: they would take memory of every cluster all the time.",
  );
}

/** Adds the request to the audit before it has an effect, so that no effect is without an entry. */
async function record(
  { db }: KindContext,
  { principal, requestId, params }: OperationRequest<unknown, unknown, { id: string }>,
  action: string,
  details: Record<string, unknown>,
): Promise<void> {
  const { id } = params;
  await db.begin((tx) => recordAudit(tx, { principal, requestId, action, kind: "databases", id, details }));
}

/** @throws ApiError 503 while the cluster neither sleeps nor answers. */
async function asked<Answer>(
  { hosts }: KindContext,
  { hostId }: DatabaseClusterRow,
  question: (driver: ServedHost["driver"]) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await question(hosts.of(hostId).driver);
  } catch (cause) {
    if (!(cause instanceof PublicError)) throw cause;
    throw new ApiError(503, "The database cluster does not answer at the moment. Try again soon.", {
      headers: { "Retry-After": "2" },
      cause,
    });
  }
}
