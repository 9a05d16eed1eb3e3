// The environments that answers about other resources include.
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
  if (!can(principal, "applications:read")) return [];
  const ids = rows.flatMap(({ environmentIds }) => environmentIds);
  return await includedEnvironments(context, principal, ids);
}

/** The environments with these ids, each once. */
export async function includedEnvironments(
  context: KindContext,
  principal: Principal,
  ids: readonly string[],
): Promise<EnvironmentResource[]> {
  if (ids.length === 0) return [];
  const found = await environmentsWithIds(context.db, principal.organizationId, [...new Set(ids)]);
  return found.map((environment) => renderEnvironment(environment, context, principal));
}
