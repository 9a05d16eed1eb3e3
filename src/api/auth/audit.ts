// The record of requests for changes and of the token behind each; written in the transaction of the change itself.
import type { Transaction } from "../../store/database.ts";
import type { Principal } from "./auth.ts";

export interface AuditEntry {
  principal: Principal;
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
  await tx`
    insert into audit (organization_id, token_id, request_id, action, resource_kind, resource_id, details)
    values (${principal.organizationId}, ${principal.tokenId}, ${entry.requestId},
            ${entry.action}, ${entry.kind}, ${entry.id}, ${entry.details})`;
}
