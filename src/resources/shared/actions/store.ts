// The rows of actions. An action is work on a resource that a request starts, that takes long, and that outlives the
// request.
import { newId } from "../../../lib/ids.ts";
import { enqueue } from "../../../reconciler/queue.ts";
import type { Queryable, Transaction } from "../../../store/database.ts";
import { notify } from "../../../store/notifications.ts";

/** The kind of actions in the work queue. */
export const ACTIONS = "actions";

/** How an action ended; `unreachable` means that its host was away. */
export type Ending =
  | { state: "done" }
  | { state: "failed"; failure: "refused" | "late" | "unreachable"; error: string };

export interface Action {
  id: string;
  type: "suspend";
  resourceId: string;
  hostId: string;
  state: "pending" | "running" | "done" | "failed";
  deadlineAt: Date;
  /** Null while the action is under way. */
  endedAt: Date | null;
  failure: "refused" | "late" | "unreachable" | null;
  /** A sentence for the customer. */
  error: string | null;
}

/** The action that a request asks for. */
type NewAction = Pick<Action, "type" | "resourceId" | "hostId"> & {
  requestedBy: string;
  deadlineSeconds: number;
};

/**
 * Begins an action with its work item, or joins the action of this type that the resource has under way. @returns its
 * id.
 */
export async function beginAction(tx: Transaction, action: NewAction): Promise<string> {
  const { type, resourceId, hostId, requestedBy, deadlineSeconds } = action;
  const id = newId("act");
  const [made] = await tx`
    insert into actions (id, type, resource_id, host_id, requested_by, deadline_at)
    values (${id}, ${type}, ${resourceId}, ${hostId}, ${requestedBy}, now() + make_interval(secs => ${deadlineSeconds}))
    on conflict (resource_id, type) where ended_at is null do nothing returning id`;
  if (made !== undefined) {
    await enqueue(tx, { kind: ACTIONS, id, hostId, deadlineSeconds });
    return id;
  }
  const [open] = await tx<{ id: string }[]>`
    select id from actions where resource_id = ${resourceId} and type = ${type} and ended_at is null`;
  // The action ended between the two statements, so its row is free again.
  return open?.id ?? (await beginAction(tx, action));
}

/** The action with this id; undefined when its resource is gone, or when the action ended long ago. */
export async function findAction(db: Queryable, id: string): Promise<Action | undefined> {
  const [row] = await db<Action[]>`
    select id, type, resource_id as "resourceId", host_id as "hostId", state, deadline_at as "deadlineAt",
           ended_at as "endedAt", failure, error
    from actions where id = ${id}`;
  return row;
}

/** Records that the action is being carried out. */
export async function markRunning(db: Queryable, id: string): Promise<void> {
  await db`update actions set state = 'running' where id = ${id} and state = 'pending'`;
}

/** Writes how the action ended, and notifies the requests that wait for it. */
export async function endAction(tx: Transaction, id: string, ending: Ending): Promise<void> {
  const { failure, error } = ending.state === "failed" ? ending : { failure: null, error: null };
  await tx`
    update actions set state = ${ending.state}, ended_at = now(), failure = ${failure}, error = ${error}
    where id = ${id}`;
  await notify(tx, "status", id);
}

/** Removes an action that ended long ago. */
export async function deleteAction(tx: Transaction, id: string): Promise<void> {
  await tx`delete from actions where id = ${id}`;
}

/** Removes all actions of a deleted resource, and notifies the requests that wait for them. */
export async function deleteActionsOf(tx: Transaction, resourceId: string): Promise<void> {
  const rows = await tx<{ id: string }[]>`delete from actions where resource_id = ${resourceId} returning id`;
  for (const { id } of rows) await notify(tx, "status", id);
}
