// The environments that a resource is attached to, for the answers about that resource.
import { can, type Principal } from "../../../api/auth/auth.ts";
import type { KindContext } from "../../kind.ts";
import { renderEnvironment } from "./render.ts";
import type { EnvironmentResource } from "./schema.ts";
import { environmentsWithIds } from "./store.ts";

/** The environments that rows name, each once; none for a token that may not read applications. */
export async function attachedEnvironments(
  context: KindContext,
  principal: Principal,
  rows: readonly { environmentIds: string[] }[],
): Promise<EnvironmentResource[]> {
  const ids = [...new Set(rows.flatMap(({ environmentIds }) => environmentIds))];
  if (ids.length === 0 || !can(principal, "applications:read")) return [];
  const found = await environmentsWithIds(context.db, principal.organizationId, ids);
  return found.map((environment) => renderEnvironment(environment, context, principal));
}
