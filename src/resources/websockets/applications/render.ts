// Renders a WebSocket application for the token of the request.
import { can, type Principal } from "../../../api/auth/auth.ts";
import type { KindContext } from "../../kind.ts";
import { stillGood } from "./rotate.ts";
import type { ApplicationResource } from "./schema.ts";
import { settingsOf, type ApplicationRow } from "./store.ts";

/** The resource object; it has credentials only for a token that may see them. */
export function renderApplication(
  application: ApplicationRow,
  context: KindContext,
  principal: Principal,
): ApplicationResource {
  return {
    id: application.id,
    type: "websocketApplications",
    attributes: {
      ...settingsOf(application),
      app_id: application.appId,
      created_at: application.createdAt,
      ...credentialsOf(application, context, principal),
    },
    relationships: {
      server: { data: { id: application.clusterId, type: "websocketServers" } },
      environments: { data: application.environmentIds.map((id) => ({ id, type: "environments" })) },
    },
    meta: {
      former_secrets: stillGood(application.formerSecrets, Date.now()).map(({ expiresAt }) => ({
        expires_at: expiresAt,
      })),
    },
  };
}

function credentialsOf(application: ApplicationRow, { vault }: KindContext, principal: Principal) {
  if (!can(principal, "websockets:credentials")) return { "": [] };
  const { key, sealedSecret, id } = application;
  const credentials = { key, secret: vault.open(sealedSecret, id) };
  return { "": credentials, ...credentials };
}
