// Making, listing and revoking tokens. The store keeps hashes only; a plaintext is shown once.
import { newId } from "../../lib/ids.ts";
import { PublicError } from "../../lib/errors.ts";
import { newPassword, sha256Hex } from "../../lib/secrets.ts";
import { unknownAbilities } from "./abilities.ts";
import type { Database, Transaction } from "../../store/database.ts";
import { notify } from "../../store/notifications.ts";

/** The first name of the operator's organization; it means that organization even after it was renamed. */
export const DEFAULT_ORGANIZATION = "default";

/** The token that the operator sets by PILVI_BOOTSTRAP_TOKEN; there is at most one at a time. */
const BOOTSTRAP = "bootstrap";

const PREFIX = "pilvi_";
const RANDOM_CHARACTERS = 40;

/** The plaintext of a new token, as hard to guess as a key. */
export function newToken(): string {
  return PREFIX + newPassword(RANDOM_CHARACTERS);
}

/** The most that the resources of a token may take in all; a limit that is left out does not exist. */
export interface TokenLimits {
  resources?: number | undefined;
  memoryBytes?: number | undefined;
  storageBytes?: number | undefined;
  connections?: number | undefined;
}

/** The properties of a new token. */
export interface NewToken {
  organizationName: string;
  name: string;
  abilities: string[];
  expiresAt?: Date;
  limits?: TokenLimits;
  /** A plaintext of the caller's choice. */
  token?: string;
}

/** A token as a list shows it. */
export interface TokenRow {
  id: string;
  name: string;
  organizationName: string;
  abilities: string[];
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  /** Null means no limit. */
  maxResources: number | null;
  maxMemoryBytes: number | null;
  maxStorageBytes: number | null;
  maxConnections: number | null;
}

/**
 * Makes a token, and its organization when none has that name.
 * @param kinds the resource kinds that abilities may name.
 * @returns the plaintext, which is stored nowhere.
 * @throws PublicError naming abilities that do not exist.
 */
export async function createToken(
  db: Database,
  kinds: string[],
  request: NewToken,
): Promise<{ id: string; token: string }> {
  const unknown = unknownAbilities(request.abilities, kinds);
  if (unknown.length > 0) throw new PublicError(`These abilities do not exist: ${unknown.join(", ")}.`);
  if (request.abilities.length === 0) throw new PublicError("A token needs at least one ability.");
  const token = request.token ?? newToken();
  const id = newId("token");
  await db.begin(async (tx) => {
    const organizationId = await organizationOf(tx, request.organizationName);
    const rows = await insertToken(tx, { ...request, id, organizationId, token });
    if (rows.length === 0) throw new PublicError("A token with this text exists already.");
  });
  return { id, token };
}

/** All tokens, the oldest first; revoked tokens too. */
export async function listTokens(db: Database): Promise<TokenRow[]> {
  return await db<TokenRow[]>`
    select t.id, t.name, o.name as "organizationName", t.abilities, t.created_at as "createdAt",
           t.expires_at as "expiresAt", t.revoked_at as "revokedAt", t.last_used_at as "lastUsedAt",
           t.max_resources::float8 as "maxResources", t.max_memory_bytes::float8 as "maxMemoryBytes",
           t.max_storage_bytes::float8 as "maxStorageBytes", t.max_connections::float8 as "maxConnections"
    from tokens t join organizations o on o.id = t.organization_id
    order by t.id`;
}

/**
 * Revokes the token with this id, or the only unrevoked token with this name.
 * @throws PublicError when there is no such token, or several have the name.
 */
export async function revokeToken(db: Database, idOrName: string): Promise<void> {
  await db.begin(async (tx) => {
    const rows = await tx<{ id: string; organizationId: string }[]>`
      select id, organization_id as "organizationId" from tokens
      where revoked_at is null and (id = ${idOrName} or name = ${idOrName})
      order by id for no key update`;
    const [row] = rows;
    if (row === undefined) throw new PublicError(`There is no token ${idOrName} that could be revoked.`);
    if (rows.length > 1) {
      throw new PublicError(`${rows.length} tokens are named ${idOrName}; give the id of the one to revoke.`);
    }
    await revokeTokens(tx, row.organizationId, [row.id]);
  });
}

/**
 * Revokes tokens of an organization, with the tokens and invitations that these have made, and ends the streams of all of
 * these tokens.
 */
export async function revokeTokens(
  tx: Transaction,
  organizationId: string,
  ids: readonly string[],
): Promise<void> {
  const family = tx`
    with recursive family as (
      select id from tokens where id = any(${tx.array([...ids], "text")})
      union select t.id from tokens t join family f on t.maker_id = f.id)`;
  let rows;
  // A token that makes another one at this moment holds its own row, so the new one is seen after a wait for that.
  do {
    rows = await tx`
      ${family}
      update tokens set revoked_at = now()
      where id in (
        select id from tokens where id in (select id from family) and revoked_at is null
        order by id for no key update)
      returning id`;
  } while (rows.length > 0);
  await tx`
    ${family}
    delete from invitations where id in (
      select id from invitations where maker_id in (select id from family) order by id for update)`;
  // Has the streams of the tokens check them.
  await notify(tx, "events", organizationId);
}

/**
 * Deletes tokens of members and of tokens that were revoked or have expired for some days, batch after batch; several
 * processes may do it. A token whose resources still count for it stays. A token of the operator stays as well, so that
 * its text does not become valid again at a later start.
 * @returns how many were deleted.
 */
export async function pruneTokens(db: Database, days: number, batch: number): Promise<number> {
  for (let sum = 0; ;) {
    const deleted = await db.begin(async (tx) => {
      const rows = await tx<{ id: string }[]>`
        delete from tokens where id in (
          select id from tokens t
          where (user_id is not null or maker_id is not null)
            and least(revoked_at, expires_at) < now() - make_interval(days => ${days})
            and not exists (
              select from quota_usage where owner = t.id
                and (caches, databases, websockets, applications, memory_bytes, storage_bytes, connections)
                  is distinct from (0, 0, 0, 0, 0, 0, 0))
          order by least(revoked_at, expires_at) limit ${batch} for update skip locked)
        returning id`;
      // A deletion of the organization locks the sums before the tokens.
      await tx`
        delete from quota_usage where owner in (
          select owner from quota_usage
          where owner = any(${tx.array(
            rows.map(({ id }) => id),
            "text",
          )}) for update skip locked)`;
      return rows.length;
    });
    sum += deleted;
    if (deleted < batch) return sum;
  }
}

/**
 * Sees to it that a token of the caller's choice exists, with full access to the default organization.
 *
 * A revoked token stays revoked, except for `bootstrap`: the operator sets that token now, and it replaces the former
 * one.
 */
export async function ensureToken(db: Database, request: { plaintext: string; name: string }): Promise<void> {
  await db.begin(async (tx) => {
    const organizationId = await organizationOf(tx, DEFAULT_ORGANIZATION);
    await insertToken(tx, {
      id: newId("token"),
      organizationId,
      name: request.name,
      token: request.plaintext,
      abilities: ["*"],
    });
    if (request.name !== BOOTSTRAP) return;
    const hash = sha256Hex(request.plaintext);
    const former = await tx<{ id: string }[]>`
      select id from tokens
      where organization_id = ${organizationId} and name = ${BOOTSTRAP} and revoked_at is null
        and token_hash <> ${hash}
      order by id for no key update`;
    await revokeTokens(
      tx,
      organizationId,
      former.map(({ id }) => id),
    );
    await tx`
      update tokens set revoked_at = null
      where organization_id = ${organizationId} and name = ${BOOTSTRAP} and token_hash = ${hash}`;
  });
}

/** Whether it is the organization of the operator, whose tokens may see the gauges of all organizations. */
export async function isDefaultOrganization(db: Database, id: string): Promise<boolean> {
  const rows = await db`select from organizations where id = ${id} and is_default`;
  return rows.length > 0;
}

/** Makes the operator's organization if it is missing, and returns its id. The operator may have renamed it. */
export async function defaultOrganization(tx: Transaction): Promise<string> {
  const [row] = await tx<{ id: string }[]>`
    insert into organizations (id, name, is_default) values (${newId("org")}, ${DEFAULT_ORGANIZATION}, true)
    on conflict (is_default) where is_default do update set is_default = true returning id`;
  if (row === undefined) throw new Error("an upsert gave no row");
  return row.id;
}

async function organizationOf(tx: Transaction, name: string): Promise<string> {
  if (name === DEFAULT_ORGANIZATION) return await defaultOrganization(tx);
  // The update changes nothing; it makes the statement return a row that exists already.
  const [row] = await tx<{ id: string }[]>`
    insert into organizations (id, name) values (${newId("org")}, ${name})
    on conflict (name) do update set name = excluded.name returning id`;
  if (row === undefined) throw new Error("an upsert gave no row");
  return row.id;
}

/** The columns of a new token. */
export interface TokenValues {
  id: string;
  organizationId: string;
  name: string;
  token: string;
  abilities: string[];
  expiresAt?: Date;
  limits?: TokenLimits;
  /** The user who makes it, or who made the token that makes it. */
  userId?: string | null;
  /** The token that makes it. */
  makerId?: string;
}

/** Adds a token. @returns no row when a token with this text exists, revoked or not. */
export async function insertToken(tx: Transaction, values: TokenValues): Promise<unknown[]> {
  const { resources, memoryBytes, storageBytes, connections } = values.limits ?? {};
  return await tx`
    insert into tokens (
      id, organization_id, name, token_hash, abilities, expires_at,
      max_resources, max_memory_bytes, max_storage_bytes, max_connections, user_id, maker_id)
    values (${values.id}, ${values.organizationId}, ${values.name}, ${sha256Hex(values.token)},
            ${tx.array(values.abilities, "text")}, ${values.expiresAt ?? null},
            ${resources ?? null}, ${memoryBytes ?? null}, ${storageBytes ?? null}, ${connections ?? null},
            ${values.userId ?? null}, ${values.makerId ?? null})
    on conflict (token_hash) do nothing returning id`;
}
