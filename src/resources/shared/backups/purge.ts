// Deletes the backups of a deleted instance: the order in its archive, with the audit and the event of the request.
import type { Principal } from "../../../api/auth/auth.ts";
import type { Transaction } from "../../../store/database.ts";
import { recordRequest } from "../events/record.ts";
import { INSTANCE_KINDS } from "../instance-kinds.ts";
import { markArchivePurged, type ArchiveRow } from "./archives.ts";

/** Has all backups of a deleted instance be deleted; a repeated call changes nothing. */
export async function purgeArchive(
  tx: Transaction,
  { principal, requestId }: { principal: Principal; requestId: string },
  archive: ArchiveRow,
): Promise<void> {
  const { id, kind, source, isPurged } = archive;
  if (isPurged || !(await markArchivePurged(tx, archive))) return;
  const resource = { type: INSTANCE_KINDS[kind].type, id, name: source.name };
  const event = { type: "changed" as const, resource, details: { fields: ["backups"] } };
  await recordRequest(tx, { principal, requestId, action: "purge", kind, details: {}, event });
}
