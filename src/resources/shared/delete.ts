// Marks an instance of any kind for deletion.
import { notFound } from "../../api/jsonapi/errors.ts";
import type { OperationRequest } from "../../api/operation/operation.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { enqueue } from "../../reconciler/queue.ts";
import type { Transaction } from "../../store/database.ts";
import { notify } from "../../store/notifications.ts";
import type { KindContext } from "../kind.ts";
import { findArchive, markArchiveDeleted, type ArchiveSource } from "./backups/archives.ts";
import { purgeArchive } from "./backups/purge.ts";
import { DEADLINE_SECONDS } from "./create.ts";
import { recordRequest } from "./events/record.ts";
import { INSTANCE_KINDS, type InstanceKind } from "./instance-kinds.ts";
import { lockRow } from "./rows.ts";

/** The kind of the instance, and the rows that are deleted with it. */
interface InstanceDeletion<Row> {
  kind: InstanceKind;
  /** The noun in the 404 of a missing instance. */
  noun: string;
  /** Left out by a kind without backups. */
  archive?: {
    find(tx: Transaction, organizationId: string, id: string): Promise<Row | undefined>;
    /** The order of the instance, which its archive keeps. */
    sourceOf(row: Row): ArchiveSource;
    /** Whether the backups are deleted as well. */
    isPurged: boolean;
  };
  /** Marks the rows that belong to the instance. */
  markParts?(tx: Transaction, id: string): Promise<void>;
}

/**
 * Marks the organization's instance for deletion, in one transaction with the work item and the audit; a repeated call
 * changes nothing, unless it is the first that asks for the deletion of the backups.
 * @throws ApiError 404
 */
export async function deleteInstance<Row>(
  { db }: KindContext,
  { principal, requestId, params: { id } }: OperationRequest<unknown, unknown, { id: string }>,
  { kind, noun, markParts, archive }: InstanceDeletion<Row>,
): Promise<void> {
  await db.begin(async (tx) => {
    const row = await lockRow(tx, kind, principal.organizationId, id);
    if (row === undefined) throw notFound(noun);
    if (row.status === "deleting") {
      // Only now is it said that the backups go as well.
      const kept = archive?.isPurged ? await findArchive(tx, principal.organizationId, id) : undefined;
      if (kept !== undefined) await purgeArchive(tx, { principal, requestId }, kept);
      return;
    }
    await tx`update ${tx.unsafe(INSTANCE_KINDS[kind].table)} set status = 'deleting' where id = ${id}`;
    await notify(tx, "status", id);
    await markParts?.(tx, id);
    const found = await archive?.find(tx, principal.organizationId, id);
    if (archive !== undefined && found !== undefined) {
      const { isPurged } = archive;
      await markArchiveDeleted(tx, id, { source: archive.sourceOf(found), isPurged });
    }
    await enqueue(tx, { kind, id, hostId: row.hostId, deadlineSeconds: DEADLINE_SECONDS });
    const resource = { type: INSTANCE_KINDS[kind].type, id, name: row.name };
    const event = { type: "deleting" as const, resource };
    await recordRequest(tx, { principal, requestId, action: "delete", kind, details: {}, event });
    await failpoint("delete.written");
  });
  await failpoint("delete.committed");
}
