// The log that a clone had in its archive before a refresh: that of other data, whose positions the new data has again.
import type { ServedHost } from "../../kind.ts";
import type { DatabaseClusterRow } from "../store.ts";
import { protocolOf } from "../types.ts";

/** Retention that deletes no backup. */
const KEEPS_ALL = { keepFrom: new Date(0).toISOString(), keepBackups: [] };

/**
 * Ends the log of a clone that has taken over the data of a refresh, before a window can be turned on again: new data
 * may be on the same timeline as the former. The log of a MySQL begins anew by itself.
 */
export async function endFormerLog(
  driver: Pick<ServedHost["driver"], "archive" | "retain">,
  { id, type, refresh }: Pick<DatabaseClusterRow, "id" | "type" | "refresh">,
): Promise<void> {
  if (refresh?.state !== "swapping" || protocolOf(type) === "mysql") return;
  if ((await driver.archive(id)) === null) return;
  await driver.retain(id, { ...KEEPS_ALL, endsLog: true });
}
