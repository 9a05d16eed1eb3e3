// What resources take of the quotas, and the sums of it that the store keeps by organization and by token.
import type { Database, Queryable, Transaction } from "../../store/database.ts";
import type { Allocation } from "../kind.ts";
import type { InstanceKind } from "./rows.ts";

/** What an organization or a token has in all. */
export interface Usage extends Record<InstanceKind, number> {
  memoryBytes: number;
  storageBytes: number;
  connections: number;
}

/** The limits of a token; null is none. */
export interface TokenLimits {
  resources: number | null;
  memoryBytes: number | null;
  storageBytes: number | null;
  connections: number | null;
}

/** Who owns a resource. */
interface Owners {
  organizationId: string;
  tokenId: string;
}

/**
 * Adds the allocation of a new resource. From here on the transaction holds the sums of its organization, and every other one
 * that takes of them waits, so this comes as late as possible.
 */
export async function insertAllocation(
  tx: Transaction,
  { organizationId, tokenId }: Owners,
  { kind, id, allocation }: { kind: InstanceKind; id: string; allocation: Allocation },
): Promise<void> {
  await tx`
    insert into allocations (resource_id, organization_id, token_id, kind, memory_bytes, connections)
    values (${id}, ${organizationId}, ${tokenId}, ${kind}, ${allocation.memoryBytes}, ${allocation.connections})`;
}

/** What a resource takes now, kept as it is until the transaction ends; undefined where nothing is recorded. */
export async function lockAllocation(tx: Transaction, id: string): Promise<Allocation | undefined> {
  const [row] = await tx<Allocation[]>`
    select coalesce(memory_bytes, 0)::float8 as "memoryBytes", connections::float8 as connections
    from allocations where resource_id = ${id} for update`;
  return row;
}

/** Writes another allocation. @param tokenId the token that it counts for from now on; null leaves it as it is. */
export async function updateAllocation(
  tx: Transaction,
  id: string,
  { memoryBytes, connections }: Allocation,
  tokenId: string | null,
): Promise<void> {
  await tx`
    update allocations
    set memory_bytes = ${memoryBytes}, connections = ${connections}, token_id = coalesce(${tokenId}::text, token_id)
    where resource_id = ${id}`;
}

/** Gives back what a resource took; nothing is left of it. */
export async function deleteAllocation(tx: Transaction, id: string): Promise<void> {
  await tx`delete from allocations where resource_id = ${id}`;
}

const USAGE = (alias: string) => `
  coalesce(${alias}.caches, 0)::float8 as caches, coalesce(${alias}.databases, 0)::float8 as databases,
  coalesce(${alias}.websockets, 0)::float8 as websockets, coalesce(${alias}.memory_bytes, 0)::float8 as "memoryBytes",
  coalesce(${alias}.storage_bytes, 0)::float8 as "storageBytes",
  coalesce(${alias}.connections, 0)::float8 as connections`;

/** What an organization has in all. */
export async function usageOfOrganization(db: Queryable, id: string): Promise<Usage> {
  const [row] = await db<Usage[]>`
    select ${db.unsafe(USAGE("u"))} from (values (${id}::text)) as o (id) left join quota_usage u on u.owner = o.id`;
  if (row === undefined) throw new Error("a list of one value gave no row");
  return row;
}

/** What the resources have that count for a token, and its limits. */
export async function usageOfToken(
  db: Queryable,
  id: string,
): Promise<{ name: string; usage: Usage; limits: TokenLimits }> {
  const [row] = await db<(Usage & Record<`max${string}`, number | null> & { name: string })[]>`
    select t.name, ${db.unsafe(USAGE("u"))},
           t.max_resources::float8 as "maxResources", t.max_memory_bytes::float8 as "maxMemoryBytes",
           t.max_storage_bytes::float8 as "maxStorageBytes", t.max_connections::float8 as "maxConnections"
    from tokens t left join quota_usage u on u.owner = t.id where t.id = ${id}`;
  if (row === undefined) throw new Error("a token that was let in is not there");
  const { name, maxResources, maxMemoryBytes, maxStorageBytes, maxConnections, ...usage } = row;
  const limits = {
    resources: maxResources ?? null,
    memoryBytes: maxMemoryBytes ?? null,
    storageBytes: maxStorageBytes ?? null,
    connections: maxConnections ?? null,
  };
  return { name, usage, limits };
}

/** The resources of earlier releases whose memory nobody has looked at. */
export async function unknownAllocations(db: Database): Promise<{ id: string; kind: string }[]> {
  return await db<{ id: string; kind: string }[]>`
    select resource_id as id, kind from allocations where memory_bytes is null order by resource_id`;
}

/** Writes what a resource of an earlier release takes, unless somebody else has meanwhile. */
export async function recordAllocation(
  db: Database,
  id: string,
  { memoryBytes, connections }: Allocation,
): Promise<void> {
  await db`
    update allocations set memory_bytes = ${memoryBytes}, connections = ${connections}
    where resource_id = ${id} and memory_bytes is null`;
}
