// How the making of a refresh's data ends: the clone takes it over, or keeps its former data. One transaction each.
import { failpoint } from "../../../lib/failpoint.ts";
import { newId } from "../../../lib/ids.ts";
import type { Database, Transaction } from "../../../store/database.ts";
import { enqueueChange } from "../../shared/desired-state.ts";
import { recordEvent, type NewEvent } from "../../shared/events/record.ts";
import { lockRow } from "../../shared/rows.ts";
import { eraseDatabases, insertDatabase, type DatabaseRow } from "../schemas/store.ts";
import { loadDatabaseCluster, type DatabaseClusterRow } from "../store.ts";
import { advanceRefresh, type StoredRefresh } from "./store.ts";

/** The data is whole: its databases become those of the clone, whose own run takes it over. */
export async function beginSwap(
  db: Database,
  { id, organizationId }: DatabaseClusterRow,
  refresh: StoredRefresh,
  databases: readonly string[],
): Promise<void> {
  await db.begin(async (tx) => {
    const cluster = await locked(tx, organizationId, id);
    if (cluster === null || !(await advanceRefresh(tx, id, refresh, { state: "swapping" }))) return;
    await enqueueChange(tx, "databases", cluster);
    await bringDatabasesTo(tx, cluster, databases);
  });
  await failpoint("refresh.swapping");
}

/** The data cannot be had: the clone goes on with its former data. */
export async function failRefresh(
  db: Database,
  { id, organizationId, name }: DatabaseClusterRow,
  refresh: StoredRefresh,
  error: string,
): Promise<void> {
  await db.begin(async (tx) => {
    const cluster = await locked(tx, organizationId, id);
    const end = { state: "failed", endedAt: new Date().toISOString(), error } as const;
    if (cluster === null || !(await advanceRefresh(tx, id, refresh, end))) return;
    await enqueueChange(tx, "databases", cluster);
    const resource = { type: "databases", id, name } as const;
    await recordEvent(tx, { organizationId, type: "refresh_failed", resource, details: { reason: error } });
  });
}

/** Null for a clone that is being deleted. */
async function locked(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<DatabaseClusterRow | null> {
  await lockRow(tx, "databases", organizationId, id);
  const cluster = await loadDatabaseCluster(tx, id);
  return cluster?.status === "deleting" ? null : cluster;
}

/** A database that the clone had by the same name keeps its id. */
async function bringDatabasesTo(
  tx: Transaction,
  { id: databaseId, organizationId, schemas }: DatabaseClusterRow,
  names: readonly string[],
): Promise<void> {
  const isKept = ({ name, status }: DatabaseRow) => names.includes(name) && status !== "deleting";
  const kept = new Set(schemas.filter(isKept).map(({ name }) => name));
  const gone = schemas.filter((schema) => !isKept(schema));
  await eraseDatabases(
    tx,
    gone.map(({ id }) => id),
  );
  for (const name of names)
    if (!kept.has(name)) await insertDatabase(tx, { id: newId("schema"), databaseId, name });
  const events = gone.map(({ id, name }): NewEvent => {
    const resource = { type: "databaseSchemas", id, name } as const;
    return { organizationId, type: "deleted", resource, details: { database: databaseId } };
  });
  for (const event of events) await recordEvent(tx, event);
}
