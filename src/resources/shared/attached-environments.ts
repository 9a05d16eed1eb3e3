// The environments that use a resource which changes, or which is being erased: their processes are to get its present
// variables, or to lose them with its port.
import type { Transaction } from "../../store/database.ts";
import { notify } from "../../store/notifications.ts";

/** The column of environments that names what they use. */
type AttachmentColumn = "database_schema_id" | "cache_id" | "websocket_application_id";

/**
 * Has the environments that use resources looked at again. Where resources are erased, that comes before their rows go
 * and take their attachments along: another instance may get the port that the processes reach. Where a resource has
 * changed, it comes when the change is in force, since a process with the new address could not start before. A run that
 * finds the same variables changes nothing.
 *
 * A transaction calls it once for all its resources, or first for all of them: environments are locked in the order of
 * their ids.
 */
export async function requeueEnvironmentsWith(
  tx: Transaction,
  column: AttachmentColumn,
  ids: readonly string[],
): Promise<void> {
  // A change of an environment locks its row before its work as well.
  const rows = await tx<{ id: string }[]>`
    with attached as materialized (
      select id from environments
      where ${tx.unsafe(column)} = any(${tx.array([...ids], "text")}) and status <> 'deleting'
      order by id for no key update)
    update work set run_at = now(), attempts = 0, last_error = null, deadline_at = now() + interval '1 hour'
    from attached where work.kind = 'environments' and work.id = attached.id
    returning work.id`;
  for (const environment of rows) await notify(tx, "work", environment.id);
}
