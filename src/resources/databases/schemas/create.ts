// Creates and deletes databases in a cluster: one transaction with the row, the work item of the cluster, and the
// audit.
import { ApiError, invalid, notFound } from "../../../api/jsonapi/errors.ts";
import { createOnce } from "../../../api/operation/idempotency.ts";
import type { OperationRequest } from "../../../api/operation/operation.ts";
import { newId } from "../../../lib/ids.ts";
import { enqueue } from "../../../reconciler/queue.ts";
import type { Transaction } from "../../../store/database.ts";
import type { KindContext } from "../../kind.ts";
import { DEADLINE_SECONDS } from "../../shared/create.ts";
import { recordRequest } from "../../shared/events/record.ts";
import { lockRow } from "../../shared/rows.ts";
import { MAX_DATABASES, type NewDatabase } from "./schema.ts";
import {
  countDatabases,
  findDatabase,
  insertDatabase,
  markDatabaseDeleting,
  type DatabaseRow,
} from "./store.ts";

const KIND = "databaseSchemas" as const;

/** Creates the requested database, or finds the database that the same Idempotency-Key created before. */
export async function createDatabase(
  { db }: KindContext,
  { principal, requestId, body, idempotency, params }: OperationRequest<NewDatabase, unknown, { id: string }>,
): Promise<{ row: DatabaseRow; isReplayed: boolean }> {
  const id = newId("schema");
  return await createOnce(db, {
    organizationId: principal.organizationId,
    kind: KIND,
    id,
    request: idempotency,
    async create(tx) {
      const { hostId } = await lockUsable(tx, principal.organizationId, params.id);
      if ((await countDatabases(tx, params.id)) >= MAX_DATABASES)
        throw new ApiError(409, `A database cluster has at most ${MAX_DATABASES} databases.`);
      const row = await insertDatabase(tx, { id, databaseId: params.id, name: body.name });
      if (row === undefined) throw nameIsTaken(body.name);
      await enqueueCluster(tx, params.id, hostId);
      const details = { ...body, database: params.id };
      const event = {
        type: "created" as const,
        resource: { type: KIND, id, name: body.name },
        details: { database: params.id },
      };
      await recordRequest(tx, { principal, requestId, action: "create", kind: KIND, details, event });
      return row;
    },
    find: (tx, madeId) => findDatabase(tx, principal.organizationId, params.id, madeId),
  });
}

/**
 * Marks the database for deletion, in one transaction with the work item and the audit; a repeated call changes
 * nothing.
 * @throws ApiError 404
 */
export async function deleteDatabase(
  { db }: KindContext,
  { principal, requestId, params }: OperationRequest<unknown, unknown, { id: string; schema: string }>,
): Promise<void> {
  await db.begin(async (tx) => {
    const cluster = await lockRow(tx, "databases", principal.organizationId, params.id);
    if (cluster === undefined) throw notFound("database");
    const schema = await findDatabase(tx, principal.organizationId, params.id, params.schema);
    if (schema === undefined) throw notFound("database");
    if (schema.status === "deleting") return;
    await markDatabaseDeleting(tx, schema.id);
    await enqueueCluster(tx, params.id, cluster.hostId);
    const details = { name: schema.name, database: params.id };
    const resource = { type: KIND, id: schema.id, name: schema.name } as const;
    const event = { type: "deleting" as const, resource, details: { database: params.id } };
    await recordRequest(tx, { principal, requestId, action: "delete", kind: KIND, details, event });
  });
}

/** The cluster's reconciler creates and drops the databases of the cluster. */
async function enqueueCluster(tx: Transaction, id: string, hostId: string): Promise<void> {
  await enqueue(tx, { kind: "databases", id, hostId, deadlineSeconds: DEADLINE_SECONDS });
}

async function lockUsable(tx: Transaction, organizationId: string, id: string): Promise<{ hostId: string }> {
  const cluster = await lockRow(tx, "databases", organizationId, id);
  if (cluster === undefined) throw notFound("database cluster");
  if (cluster.status === "deleting") throw new ApiError(409, "The database cluster is being deleted.");
  return cluster;
}

function nameIsTaken(name: string): ApiError {
  return invalid({
    name: [`The cluster has a database named ${name}, or one of that name is still being deleted.`],
  });
}
