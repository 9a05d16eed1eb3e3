// The record of what happens to accounts, written in the transaction that makes it true.
import type { Transaction } from "../../store/database.ts";
import type { Client } from "./client.ts";

/** The action of a failed sign-in, whose actor is not known. */
export const FAILED_SIGN_IN = "fail-sign-in";

/** A change of an account, or an attempt to sign in to it. */
export interface AccountEntry {
  userId: string;
  client: Pick<Client, "address">;
  requestId: string;
  /** A verb, such as `sign-in`. */
  action: string;
  kind: "passkeys" | "sessions" | "sign-in-links" | "users";
  /** The session, the passkey, the link or the user. */
  id: string;
  /** Never a secret. */
  details?: Record<string, unknown>;
}

/** Adds an entry to each organization of the user, all of which the account has rights in. */
export async function recordAccountAudit(tx: Transaction, entry: AccountEntry): Promise<void> {
  const { userId, client, requestId, action, kind, id, details = {} } = entry;
  const actorId = action === FAILED_SIGN_IN ? null : userId;
  await tx`
    insert into audit (organization_id, user_id, address, request_id, action, resource_kind, resource_id, details)
    select organization_id, ${actorId}::text, ${client.address}, ${requestId}, ${action}, ${kind}, ${id},
           ${details}::jsonb
    from members where user_id = ${userId}`;
}
