// The columns that the rows of every kind of resource have in common, and the SQL for them. Names of tables are
// constants.
import { forgetResource } from "../../api/operation/idempotency.ts";
import type { Observation } from "../../contracts/observation.ts";
import { storable } from "../../lib/storable.ts";
import { isQueuedAgain } from "../../reconciler/queue.ts";
import type { Queryable, Transaction } from "../../store/database.ts";
import { notify } from "../../store/notifications.ts";
import { deleteActionsOf } from "./actions/store.ts";
import { deleteMetricsOf } from "./metrics/roll-up.ts";
import { deleteAllocation } from "./allocations.ts";
import { recordEvent } from "./events/record.ts";
import {
  FORMER_PASSWORD,
  type FormerPassword,
  type Passwords,
  type StoredFormerPassword,
} from "./former-password.ts";
import { INSTANCE_KINDS, type InstanceKind } from "./instance-kinds.ts";
import type { CloudRegion } from "./regions.ts";

/** The properties that every instance gets at its creation. */
export interface InstanceValues {
  id: string;
  organizationId: string;
  hostId: string;
  name: string;
  region: CloudRegion;
  port: number;
}

/** The login of a customer at an instance that has a user. */
export interface InstanceLogin {
  username: string;
  sealedPassword: string;
  /** The password of before the latest rotation, which may still be valid. */
  formerPassword: FormerPassword | null;
}

/** How far the desired state of the instance is in force. */
export interface InstanceProgress<Status, Limits> {
  status: Status;
  /** The state that the driver reported last. */
  engine: Observation["engine"];
  limits: Limits | null;
  /** UTC with microseconds, ISO 8601. */
  createdAt: string;
  lastError: string | null;
  isOverdue: boolean;
  /** The bytes on the disk at the last measurement; null before the first. */
  storageBytes: number | null;
}

/** The progress of a new row. */
export const NO_PROGRESS = {
  engine: null,
  limits: null,
  lastError: null,
  isOverdue: false,
  storageBytes: null,
} as const;

/** When a row was created, as answers show it; `r` is the alias of every kind's table. */
export const CREATED_AT = `to_char(r.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** The columns of kinds whose instances have a user, as SQL. */
export const LOGIN_COLUMNS = `r.username, r.sealed_password as "sealedPassword", ${FORMER_PASSWORD} as "formerPassword"`;

/** Rows of earlier releases have no warnings. */
const ENGINE = `jsonb_build_object('warning', null) || r.engine`;

/**
 * The beginning of a statement that reads whole rows of a kind.
 * @param columns the kind's own columns, as SQL.
 */
export function selectOf(kind: InstanceKind, columns: string): string {
  return `
    select r.id, r.organization_id as "organizationId", r.host_id as "hostId", r.name, r.region, r.port,
           r.status, ${ENGINE} as engine, r.limits, ${CREATED_AT} as "createdAt", w.last_error as "lastError",
           coalesce(w.deadline_at < now(), false) as "isOverdue",
           nullif(taken.storage_bytes, 0)::float8 as "storageBytes", ${columns}
    from ${INSTANCE_KINDS[kind].table} r left join work w on w.kind = '${kind}' and w.id = r.id
    left join allocations taken on taken.resource_id = r.id`;
}

/** The row with this id, of the organization or, for the reconciler, of any organization. */
export async function findRow<Row>(
  db: Queryable,
  select: string,
  id: string,
  organizationId?: string,
): Promise<Row | undefined> {
  const ofOrganization = organizationId === undefined ? db`` : db`and r.organization_id = ${organizationId}`;
  const [row] = await db<Row[]>`${db.unsafe(select)} where r.id = ${id} ${ofOrganization}`;
  return row;
}

/**
 * Locks the organization's resource until the transaction ends, and reads what a change of its desired state must know.
 * It locks the work row and not the resource's own row, because the result of a run takes its locks in that order: with
 * the other order a change and a result would deadlock.
 */
export async function lockRow(
  tx: Transaction,
  kind: InstanceKind,
  organizationId: string,
  id: string,
): Promise<{ hostId: string; status: string; name: string } | undefined> {
  await tx`
    select from work w join ${tx.unsafe(INSTANCE_KINDS[kind].table)} r on r.id = w.id
    where w.kind = ${kind} and w.id = ${id} and r.organization_id = ${organizationId} for no key update of w`;
  // A statement of its own, since a statement that waited for the lock still sees the rows of before.
  const [row] = await tx<{ hostId: string; status: string; name: string }[]>`
    select host_id as "hostId", status, name from ${tx.unsafe(INSTANCE_KINDS[kind].table)}
    where id = ${id} and organization_id = ${organizationId}`;
  return row;
}

/** The passwords after a change. */
export interface NewPasswords {
  sealedPassword: string;
  formerPassword: StoredFormerPassword | null;
}

/** Gives an instance of a kind that has a user other passwords. */
export async function writePasswords(
  tx: Transaction,
  kind: InstanceKind,
  id: string,
  { sealedPassword, formerPassword }: NewPasswords,
): Promise<void> {
  await tx`
    update ${tx.unsafe(INSTANCE_KINDS[kind].table)}
    set sealed_password = ${sealedPassword}, former_password = ${formerPassword}::jsonb where id = ${id}`;
}

/**
 * Removes a former password that was over when the row was read, so that the instance no longer has it; that of a later
 * rotation stays.
 */
export async function eraseFormerPassword(
  tx: Transaction,
  kind: InstanceKind,
  { id, formerPassword }: Pick<Passwords, "id" | "formerPassword">,
): Promise<void> {
  if (formerPassword?.isOver !== true) return;
  await tx`
    update ${tx.unsafe(INSTANCE_KINDS[kind].table)} set former_password = null
    where id = ${id} and former_password ->> 'expiresAt' = ${formerPassword.expiresAt}`;
}

/** Gives an available instance the status of a change that is not in force yet. */
export async function markUpdating(tx: Transaction, kind: InstanceKind, id: string): Promise<void> {
  await tx`
    update ${tx.unsafe(INSTANCE_KINDS[kind].table)} set status = 'updating' where id = ${id} and status = 'available'`;
}

/** The observations of a run about an instance. */
export type Progress = Pick<Observation, "engine" | "limits" | "lastError">;

/**
 * Writes the result of a run, and an event when the status changes; the end of a restore has an event of its own before
 * that. A request to delete that arrived meanwhile stays. When the resource was ordered anew during the run, `available`
 * would be of the former order, so the next run writes it.
 */
export async function writeProgress(
  tx: Transaction,
  kind: InstanceKind,
  id: string,
  status: string,
  seen: Progress,
): Promise<void> {
  const isOutdated = status === "available" && (await isQueuedAgain(tx, { kind, id }));
  const reason = storable({ status, reason: seen.lastError ?? "The engine does not answer." });
  await tx`
    with written as (
      update ${tx.unsafe(INSTANCE_KINDS[kind].table)} r
      set status = case when r.status = 'deleting' or ${isOutdated} then r.status else ${status} end,
          engine = coalesce(${seen.engine}::jsonb, r.engine), limits = coalesce(${seen.limits}::jsonb, r.limits)
      from (select id, status from ${tx.unsafe(INSTANCE_KINDS[kind].table)} where id = ${id}) former
      where r.id = former.id
      returning r.organization_id, r.id, r.name, r.status, former.status as former)
    insert into events (organization_id, type, resource_type, resource_id, resource_name, details)
    select organization_id, event, ${INSTANCE_KINDS[kind].type}, id, name,
           case status when 'available' then '{}' else ${reason}::jsonb end
    from written cross join lateral unnest(case
      when status = 'available' and former = 'restoring' then array['restored', 'available']
      when status = 'available' then array['available']
      when status = 'restore_failed' then array['restore_failed']
      else array['unavailable'] end) event
    where status <> former`;
  await notify(tx, "status", id);
}

/** Removes all rows of a resource; only its audit and its events stay. */
export async function eraseRow(tx: Transaction, kind: InstanceKind, id: string): Promise<void> {
  const [row] = await tx<{ organizationId: string; name: string }[]>`
    delete from ${tx.unsafe(INSTANCE_KINDS[kind].table)} where id = ${id} returning organization_id as "organizationId", name`;
  await tx`delete from instances where resource_id = ${id}`;
  await deleteActionsOf(tx, id);
  await deleteMetricsOf(tx, id);
  await forgetResource(tx, id);
  if (row !== undefined) {
    const resource = { type: INSTANCE_KINDS[kind].type, id, name: row.name };
    await recordEvent(tx, { organizationId: row.organizationId, type: "deleted", resource });
  }
  await deleteAllocation(tx, id);
  await notify(tx, "status", id);
}
