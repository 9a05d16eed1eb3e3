// The channels on which the store tells of news as it is committed, so that nobody has to poll.
import type { Queryable } from "./database.ts";

/**
 * `work`: a resource is to be looked at. `status`: a resource's status changed. The payload is the resource's id. `events`: an
 * organization has new ones, or one of its tokens was revoked; a trigger of the table tells the former. The payload is its id.
 */
export type Channel = "work" | "status" | "events";

/** Tells every process that listens; takes effect when the transaction is committed. */
export async function notify(tx: Queryable, channel: Channel, id: string): Promise<void> {
  await tx`select pg_notify(${channel}, ${id})`;
}
