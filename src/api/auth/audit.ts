// The record of requests for changes and of the token or the user behind each; written in the transaction of the change itself.
import type { Transaction } from "../../store/database.ts";
import type { SessionPrincipal, TokenPrincipal } from "./auth.ts";

/** The token or the user that made a request; every principal is one. */
export type Actor =
  | Pick<TokenPrincipal, "kind" | "tokenId" | "organizationId" | "address">
  | Pick<SessionPrincipal, "kind" | "userId" | "organizationId" | "address">;

export interface AuditEntry {
  principal: Actor;
  requestId: string;
  /** A verb, such as `create`. */
  action: string;
  kind: string;
  id: string;
  /** The parameters of the request. Never a secret. */
  details: Record<string, unknown>;
}

/** Adds an entry; it is committed with the change or not at all. */
export async function recordAudit(tx: Transaction, entry: AuditEntry): Promise<void> {
  const { principal } = entry;
  const tokenId = principal.kind === "token" ? principal.tokenId : null;
  const userId = principal.kind === "session" ? principal.userId : null;
  await tx`
    insert into audit (
      organization_id, token_id, user_id, address, request_id, action, resource_kind, resource_id, details)
    values (${principal.organizationId}, ${tokenId}, ${userId}, ${principal.address ?? ""}, ${entry.requestId},
            ${entry.action}, ${entry.kind}, ${entry.id}, ${entry.details})`;
}
