// The databases that answers about environments include.
import type { Principal } from "../../../api/auth/auth.ts";
import type { KindContext } from "../../kind.ts";
import { renderDatabase } from "./render.ts";
import type { DatabaseResource } from "./schema.ts";
import { databasesWithIds } from "./store.ts";

/** The organization's databases with these ids. */
export async function attachedDatabases(
  { db }: KindContext,
  principal: Principal,
  ids: readonly string[],
): Promise<DatabaseResource[]> {
  return (await databasesWithIds(db, principal.organizationId, ids)).map(renderDatabase);
}
