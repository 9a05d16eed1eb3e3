// The environments that answers about other resources include.
import { can, type Principal } from "../../../api/auth/auth.ts";
import type { KindContext } from "../../kind.ts";
import { rowsByParts } from "../../shared/rows-by-parts.ts";
import { renderEnvironment } from "./render.ts";
import type { EnvironmentResource } from "./schema.ts";
import { environmentsWithIds } from "./store.ts";

/** The environments that rows name, each once; none for a token that may not read applications. */
export async function* attachedEnvironments(
  context: KindContext,
  principal: Principal,
  rows: readonly { environmentIds: string[] }[],
): AsyncGenerator<EnvironmentResource, void> {
  if (!can(principal, "applications:read")) return;
  const ids = rows.flatMap(({ environmentIds }) => environmentIds);
  yield* includedEnvironments(context, principal, ids);
}

/** The environments with these ids, each once, the oldest first. */
export async function* includedEnvironments(
  context: KindContext,
  principal: Principal,
  ids: readonly string[],
): AsyncGenerator<EnvironmentResource, void> {
  const { organizationId } = principal;
  const rows = rowsByParts(ids.toSorted(), (some) => environmentsWithIds(context.db, organizationId, some));
  for await (const row of rows) yield renderEnvironment(row, context, principal);
}
