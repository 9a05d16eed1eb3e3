// The WebSocket applications that answers about environments include.
import type { Principal } from "../../../api/auth/auth.ts";
import type { KindContext } from "../../kind.ts";
import { renderApplication } from "./render.ts";
import type { ApplicationResource } from "./schema.ts";
import { findApplication } from "./store.ts";

/** The organization's WebSocket applications with these ids. */
export async function attachedWebSocketApplications(
  context: KindContext,
  principal: Principal,
  ids: readonly string[],
): Promise<ApplicationResource[]> {
  const found = await Promise.all(ids.map((id) => findApplication(context.db, principal.organizationId, id)));
  return found.flatMap((row) => (row === undefined ? [] : [renderApplication(row, context, principal)]));
}
