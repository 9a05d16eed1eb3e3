// The log that a clone had in its archive before a refresh: that of other data, whose positions the new data has again.
import { PublicError } from "../../../lib/errors.ts";
import type { Queryable } from "../../../store/database.ts";
import type { ServedHost } from "../../kind.ts";
import { loadArchive } from "../../shared/backups/archives.ts";
import { restoresFrom } from "../../shared/backups/restores.ts";
import type { DatabaseClusterRow } from "../store.ts";
import { protocolOf } from "../types.ts";

/** Retention that deletes no backup. */
const KEEPS_ALL = { keepFrom: new Date(0).toISOString(), keepBackups: [] };

/**
 * Ends the log of a clone that has taken over the data of a refresh, before a window can be turned on again: new data
 * may be on the same timeline as the former. The log of a MySQL begins anew by itself.
 * @throws PublicError while it cannot be ended; the refresh goes on later.
 */
export async function endFormerLog(
  db: Queryable,
  driver: Pick<ServedHost["driver"], "retain">,
  { id, type, refresh }: Pick<DatabaseClusterRow, "id" | "type" | "refresh">,
): Promise<void> {
  if (refresh?.state !== "swapping" || protocolOf(type) === "mysql") return;
  if ((await loadArchive(db, id)) === undefined) return;
  if ((await restoresFrom(db, id)).length > 0)
    throw new PublicError("A restore still reads the log that this clone had before its refresh.");
  await driver.retain(id, { ...KEEPS_ALL, endsLog: true });
}
