// The rows of databases in clusters: every SQL statement about them.
import { forgetResource } from "../../../api/operation/idempotency.ts";
import type { Page } from "../../../api/jsonapi/pagination.ts";
import type { Database, Queryable, Transaction } from "../../../store/database.ts";
import { requeueEnvironmentsWith } from "../../shared/attached-environments.ts";
import { notify } from "../../../store/notifications.ts";
import type { DatabaseStatus } from "./schema.ts";

/** The properties that a database gets at its creation. */
interface DatabaseValues {
  id: string;
  /** The cluster of the database. */
  databaseId: string;
  name: string;
}

export interface DatabaseRow extends DatabaseValues {
  status: DatabaseStatus;
  /** The environments that use it. */
  environmentIds: string[];
  /** UTC with microseconds, ISO 8601. */
  createdAt: string;
}

const CREATED_AT = `to_char(s.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** A constant, safe to insert into a statement. */
const SELECT = `
  select s.id, s.database_id as "databaseId", s.name, s.status, ${CREATED_AT} as "createdAt",
         array(select id from environments where database_schema_id = s.id order by id) as "environmentIds"
  from database_schemas s`;

/** The databases of the cluster `r` of an outer statement, as JSON: each like a `DatabaseClusterRow`, the oldest first. */
export const SCHEMAS_OF_CLUSTER = `
  coalesce((select json_agg(t order by t.id) from (${SELECT} where s.database_id = r.id) t), '[]')`;

/** Adds a database in the status `creating`; undefined when the cluster has a database of that name already. */
export async function insertDatabase(
  tx: Transaction,
  values: DatabaseValues,
): Promise<DatabaseRow | undefined> {
  const [row] = await tx<{ status: DatabaseStatus; createdAt: string }[]>`
    insert into database_schemas as s (id, database_id, name, status)
    values (${values.id}, ${values.databaseId}, ${values.name}, 'creating')
    on conflict (database_id, name) do nothing
    returning status, ${tx.unsafe(CREATED_AT)} as "createdAt"`;
  return row && { ...values, ...row, environmentIds: [] };
}

/** The database with this id in the organization's cluster. */
export async function findDatabase(
  db: Queryable,
  organizationId: string,
  databaseId: string,
  id: string,
): Promise<DatabaseRow | undefined> {
  const [row] = await db<DatabaseRow[]>`
    ${db.unsafe(SELECT)} join databases r on r.id = s.database_id
    where s.id = ${id} and s.database_id = ${databaseId} and r.organization_id = ${organizationId}`;
  return row;
}

/** The organization's databases among these. */
export async function databasesWithIds(
  db: Database,
  organizationId: string,
  ids: readonly string[],
): Promise<DatabaseRow[]> {
  return await db<DatabaseRow[]>`
    ${db.unsafe(SELECT)} join databases c on c.id = s.database_id
    where s.id = any(${db.array([...ids], "text")}) and c.organization_id = ${organizationId} order by s.id`;
}

/** A page of the cluster's databases, the oldest first, and the number of databases on all pages. */
export async function listDatabases(
  db: Database,
  databaseId: string,
  page: Page,
): Promise<{ rows: DatabaseRow[]; total: number }> {
  const [rows, total] = await Promise.all([
    db<DatabaseRow[]>`
      ${db.unsafe(SELECT)} where s.database_id = ${databaseId}
      order by s.id limit ${page.size} offset ${(page.number - 1) * page.size}`,
    countDatabases(db, databaseId),
  ]);
  return { rows, total };
}

/** How many databases a cluster has, with those that are being deleted. */
export async function countDatabases(db: Queryable, databaseId: string): Promise<number> {
  const [row] = await db<{ n: number }[]>`
    select count(*)::int as n from database_schemas where database_id = ${databaseId}`;
  return row?.n ?? 0;
}

/** Marks a database for deletion, and notifies the requests that wait for its status. */
export async function markDatabaseDeleting(tx: Transaction, id: string): Promise<void> {
  await tx`update database_schemas set status = 'deleting' where id = ${id}`;
  await notify(tx, "status", id);
}

/** Marks all databases of a cluster for deletion. */
export async function markDatabasesDeleting(tx: Transaction, databaseId: string): Promise<void> {
  const rows = await tx<{ id: string }[]>`
    update database_schemas set status = 'deleting' where database_id = ${databaseId} returning id`;
  for (const { id } of rows) await notify(tx, "status", id);
}

/** Writes the result of a run. @returns false when a request to delete arrived meanwhile, which stays. */
export async function writeDatabaseStatus(
  tx: Transaction,
  id: string,
  status: DatabaseStatus,
): Promise<boolean> {
  const rows = await tx`
    update database_schemas set status = ${status} where id = ${id} and status <> 'deleting' returning id`;
  await notify(tx, "status", id);
  return rows.length > 0;
}

/** Removes all rows of databases; only their audit stays. */
export async function eraseDatabases(tx: Transaction, ids: readonly string[]): Promise<void> {
  await requeueEnvironmentsWith(tx, "database_schema_id", ids);
  for (const id of ids) {
    await tx`delete from database_schemas where id = ${id}`;
    await forgetResource(tx, id);
    await notify(tx, "status", id);
  }
}

/** Removes all rows of a cluster's databases. */
export async function eraseDatabasesOf(tx: Transaction, databaseId: string): Promise<void> {
  const rows = await tx<{ id: string }[]>`
    select id from database_schemas where database_id = ${databaseId} order by id`;
  await eraseDatabases(
    tx,
    rows.map(({ id }) => id),
  );
}
