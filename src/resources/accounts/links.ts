// One-time links: the operator makes them, and each sets a password and signs in, once.
import { newId } from "../../lib/ids.ts";
import { newPassword, sha256Hex } from "../../lib/secrets.ts";
import type { Database, Queryable, Transaction } from "../../store/database.ts";
import { hasUsers } from "./store.ts";

const SECRET_CHARACTERS = 43;
const SET_UP_HOURS = 24;
const RECOVERY_HOURS = 1;

/** Only one first account can be made. */
const SET_UP_LOCK = 7_458_010;

/** A link that can still be used. */
interface SignInLink {
  id: string;
  /** Null for the link that makes the first account. */
  userId: string | null;
}

/**
 * Makes the link for the first account, in place of former ones.
 * @returns its secret, which is stored nowhere; null when there is an account.
 */
export async function createSetUpLink(db: Database): Promise<string | null> {
  return await db.begin(async (tx) => {
    await lockSetUp(tx);
    if (await hasUsers(tx)) return null;
    await tx`delete from sign_in_links where user_id is null`;
    return await insertLink(tx, null, SET_UP_HOURS);
  });
}

/** Makes a link for a user who cannot sign in, in place of former ones. @returns its secret. */
export async function createRecoveryLink(db: Database, userId: string): Promise<string> {
  return await db.begin(async (tx) => {
    await tx`delete from sign_in_links where user_id = ${userId}`;
    return await insertLink(tx, userId, RECOVERY_HOURS);
  });
}

/** Holds back other first accounts, and other links for them, until the transaction ends; the first of its locks. */
export async function lockSetUp(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(${SET_UP_LOCK})`;
}

/** The link with this secret, unless it is used or expired. */
export async function findLink(db: Queryable, secret: string): Promise<SignInLink | undefined> {
  const [row] = await db<SignInLink[]>`
    select id, user_id as "userId" from sign_in_links
    where secret_hash = ${sha256Hex(secret)} and expires_at > now()`;
  return row;
}

/** Uses a link up. @returns false when somebody else has used it. */
export async function takeLink(tx: Transaction, { id }: SignInLink): Promise<boolean> {
  const rows = await tx`delete from sign_in_links where id = ${id} and expires_at > now() returning id`;
  return rows.length > 0;
}

async function insertLink(tx: Transaction, userId: string | null, hours: number): Promise<string> {
  const secret = newPassword(SECRET_CHARACTERS);
  // Another transaction deletes the expired links that it has locked.
  await tx`
    delete from sign_in_links where id in (
      select id from sign_in_links where expires_at <= now() for update skip locked)`;
  await tx`
    insert into sign_in_links (id, secret_hash, user_id, expires_at)
    values (${newId("link")}, ${sha256Hex(secret)}, ${userId}, now() + make_interval(hours => ${hours}))`;
  return secret;
}
