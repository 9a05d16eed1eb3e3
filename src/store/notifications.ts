// The channels on which the store announces changes as they are committed, so that no process has to poll.
import type { Queryable } from "./database.ts";

/**
 * `work`: a resource is to be reconciled. `status`: a resource's status changed. The payload of both is the resource's
 * id. `events`: an organization has new events, which a trigger of the table announces, or one of its tokens or
 * sessions has ended. The payload is the organization's id.
 */
export type Channel = "work" | "status" | "events";

/** Notifies every process that listens; takes effect when the transaction is committed. */
export async function notify(tx: Queryable, channel: Channel, id: string): Promise<void> {
  await tx`select pg_notify(${channel}, ${id})`;
}
