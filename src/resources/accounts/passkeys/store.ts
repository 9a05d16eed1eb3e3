// The rows of passkeys.
import { newId } from "../../../lib/ids.ts";
import type { Queryable, Transaction } from "../../../store/database.ts";
import { momentSql } from "../../shared/moments.ts";
import type { PasskeyResource } from "./schema.ts";

/** The key of a passkey, as a check of its signature needs it. */
export interface StoredKey {
  id: string;
  userId: string;
  credentialId: string;
  publicKey: Uint8Array;
  counter: number;
  transports: string[];
}

/** The passkeys of a user, the oldest first. @param id only this passkey. */
export async function listPasskeys(db: Queryable, userId: string, id?: string): Promise<PasskeyResource[]> {
  const rows = await db<{ id: string; name: string; createdAt: string; lastUsedAt: string | null }[]>`
    select id, name, ${db.unsafe(momentSql("created_at"))} as "createdAt",
           ${db.unsafe(momentSql("last_used_at"))} as "lastUsedAt"
    from passkeys where user_id = ${userId} and id = coalesce(${id ?? null}::text, id) order by passkeys.id`;
  return rows.map((row) => ({
    id: row.id,
    type: "passkeys",
    attributes: { name: row.name, created_at: row.createdAt, last_used_at: row.lastUsedAt },
  }));
}

/** The credentials of a user, which an authenticator must not make again. */
export async function credentialsOf(
  db: Queryable,
  userId: string,
): Promise<{ id: string; transports: string[] }[]> {
  return await db<{ id: string; transports: string[] }[]>`
    select credential_id as id, transports from passkeys where user_id = ${userId}`;
}

export async function findKey(db: Queryable, credentialId: string): Promise<StoredKey | undefined> {
  const [row] = await db<StoredKey[]>`
    select id, user_id as "userId", credential_id as "credentialId", public_key as "publicKey",
           counter::float8 as counter, transports
    from passkeys where credential_id = ${credentialId}`;
  return row;
}

/** @returns the id; undefined when the credential is known already. */
export async function insertPasskey(
  tx: Transaction,
  key: Omit<StoredKey, "id"> & { name: string },
): Promise<string | undefined> {
  const [row] = await tx<{ id: string }[]>`
    insert into passkeys (id, user_id, name, credential_id, public_key, counter, transports)
    values (${newId("passkey")}, ${key.userId}, ${key.name}, ${key.credentialId}, ${Buffer.from(key.publicKey)},
            ${key.counter}, ${tx.array(key.transports, "text")})
    on conflict (credential_id) do nothing returning id`;
  return row?.id;
}

/** Records a sign-in. @returns false when the passkey is gone, or was used at the same time with a later counter. */
export async function noteSignIn(
  tx: Transaction,
  { id, counter }: StoredKey,
  newCounter: number,
): Promise<boolean> {
  const rows = await tx`
    update passkeys set counter = ${newCounter}, last_used_at = now()
    where id = ${id} and counter = ${counter} returning id`;
  return rows.length > 0;
}
