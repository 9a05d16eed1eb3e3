// The rows of tokens that are not revoked, as the API lists them.
import { revokeTokens, type TokenLimits } from "../../api/auth/tokens.ts";
import type { Queryable, Transaction } from "../../store/database.ts";
import { momentSql } from "../shared/moments.ts";

/** A token; times are UTC with microseconds, ISO 8601, and null is no limit. */
export interface TokenRow {
  id: string;
  name: string;
  abilities: string[];
  createdBy: string | null;
  createdAt: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
  maxResources: number | null;
  maxMemoryBytes: number | null;
  maxStorageBytes: number | null;
  maxConnections: number | null;
}

/** The tokens of an organization, or those of one of its users alone. */
export interface TokenScope {
  organizationId: string;
  userId: string | null;
}

/** All tokens of the scope, the newest first. @param id only this token. */
export async function listTokenRows(
  db: Queryable,
  { organizationId, userId }: TokenScope,
  id?: string,
): Promise<TokenRow[]> {
  return await db<TokenRow[]>`
    select t.id, t.name, t.abilities, u.name as "createdBy",
           ${db.unsafe(momentSql("t.created_at"))} as "createdAt",
           ${db.unsafe(momentSql("t.expires_at"))} as "expiresAt",
           ${db.unsafe(momentSql("t.last_used_at"))} as "lastUsedAt",
           t.max_resources::float8 as "maxResources", t.max_memory_bytes::float8 as "maxMemoryBytes",
           t.max_storage_bytes::float8 as "maxStorageBytes", t.max_connections::float8 as "maxConnections"
    from tokens t left join users u on u.id = t.user_id
    where t.organization_id = ${organizationId} and t.revoked_at is null
      and (${userId}::text is null or t.user_id = ${userId}::text) and t.id = coalesce(${id ?? null}::text, t.id)
    order by t.id desc`;
}

/** How many tokens of the organization are not revoked; other creates wait until the transaction ends. */
export async function countTokens(tx: Transaction, organizationId: string): Promise<number> {
  await tx`select from organizations where id = ${organizationId} for no key update`;
  const [row] = await tx<{ n: number }[]>`
    select count(*)::int as n from tokens where organization_id = ${organizationId} and revoked_at is null`;
  return row?.n ?? 0;
}

/** What a token may pass on: nothing beyond its own end, and nothing at all when it has limits. */
export async function boundsOf(
  db: Queryable,
  tokenId: string,
): Promise<{ expiresAt: Date | null; isLimited: boolean }> {
  const [row] = await db<{ expiresAt: Date | null; isLimited: boolean }[]>`
    select expires_at as "expiresAt",
           num_nonnulls(max_resources, max_memory_bytes, max_storage_bytes, max_connections) > 0 as "isLimited"
    from tokens where id = ${tokenId}`;
  return row ?? { expiresAt: null, isLimited: true };
}

/** Revokes a token, with those that it has made. @returns whether there was one. */
export async function revokeRow(tx: Transaction, scope: TokenScope, id: string): Promise<boolean> {
  const rows = await tx`
    select from tokens
    where id = ${id} and organization_id = ${scope.organizationId} and revoked_at is null
      and (${scope.userId}::text is null or user_id = ${scope.userId}::text)
    for no key update`;
  if (rows.length === 0) return false;
  await revokeTokens(tx, scope.organizationId, [id]);
  return true;
}

/**
 * Revokes the tokens that a member or a token of the member made and that are more able than the member is from now on.
 * @param abilities of the member's role; an empty list for a former member.
 */
export async function revokeTokensBeyond(
  tx: Transaction,
  { organizationId, userId }: { organizationId: string; userId: string },
  abilities: readonly string[],
): Promise<void> {
  if (abilities.includes("*")) return;
  const rows = await tx<{ id: string }[]>`
    select id from tokens
    where organization_id = ${organizationId} and user_id = ${userId} and revoked_at is null
      and not abilities <@ ${tx.array([...abilities], "text")}`;
  await revokeTokens(
    tx,
    organizationId,
    rows.map(({ id }) => id),
  );
}

/** The limits of a request as the store takes them. */
export function limitsOf(
  limits: Partial<
    Record<"resources" | "memory_bytes" | "storage_bytes" | "connections", number | undefined>
  > = {},
): TokenLimits {
  return {
    resources: limits.resources,
    memoryBytes: limits.memory_bytes,
    storageBytes: limits.storage_bytes,
    connections: limits.connections,
  };
}
