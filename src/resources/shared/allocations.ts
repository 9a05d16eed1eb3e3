// The parts of the quotas that resources take, and the sums that the store keeps by family of organizations and by token.
import type { Principal } from "../../api/auth/auth.ts";
import type { Database, Queryable, Transaction } from "../../store/database.ts";
import type { Allocation } from "../kind.ts";
import type { InstanceKind } from "./instance-kinds.ts";

/** The kinds that quotas count: all kinds of instances, and environments. */
export type CountedKind = InstanceKind | "environments";

/** The totals of a family of organizations, which share their quotas, or of a token. */
export interface Usage extends Record<InstanceKind, number> {
  /** Environments of applications. */
  applications: number;
  memoryBytes: number;
  storageBytes: number;
  connections: number;
}

/** The limits of a token; null is no limit. */
export interface TokenLimits {
  resources: number | null;
  memoryBytes: number | null;
  storageBytes: number | null;
  connections: number | null;
}

/** Whom a resource counts for: an organization, and the token that ordered it; null for a session. */
export interface QuotaOwner {
  organizationId: string;
  tokenId: string | null;
}

/** Whom the orders of a principal count for. */
export function quotaOwnerOf(principal: Principal): QuotaOwner {
  const { organizationId } = principal;
  return { organizationId, tokenId: principal.kind === "token" ? principal.tokenId : null };
}

/**
 * Adds the allocation of a new resource. The transaction then holds the sums of its family of organizations, and every
 * other transaction that allocates for one of them waits. Nothing that locks may follow.
 */
export async function insertAllocation(
  tx: Transaction,
  principal: Principal,
  { kind, id, allocation }: { kind: CountedKind; id: string; allocation: Allocation },
): Promise<void> {
  const { organizationId, tokenId } = quotaOwnerOf(principal);
  await tx`
    insert into allocations (resource_id, organization_id, token_id, kind, memory_bytes, connections)
    values (${id}, ${organizationId}, ${tokenId}, ${kind}, ${allocation.memoryBytes}, ${allocation.connections})`;
}

/** Reads and locks what a resource takes now, until the transaction ends; undefined when nothing is recorded. */
export async function lockAllocation(
  tx: Transaction,
  id: string,
): Promise<(Allocation & QuotaOwner) | undefined> {
  const [row] = await tx<(Allocation & QuotaOwner)[]>`
    select coalesce(memory_bytes, 0)::float8 as "memoryBytes", connections::float8 as connections,
           organization_id as "organizationId", token_id as "tokenId"
    from allocations where resource_id = ${id} for update`;
  return row;
}

/**
 * Writes another allocation. @param tokenId the token that the resource counts for from now on; null keeps the token.
 */
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

/** Returns what a resource took, and removes its allocation. */
export async function deleteAllocation(tx: Transaction, id: string): Promise<void> {
  await tx`delete from allocations where resource_id = ${id}`;
}

/** The totals of a family of organizations and a token, and the limits of the token; a session has neither. */
export interface Usages {
  /** Whether there are other organizations in the family. */
  isShared: boolean;
  ofFamily: Usage;
  ofToken: Usage;
  /** Null for a session. */
  tokenName: string | null;
  tokenLimits: TokenLimits;
}

const usageOf = (owner: string) => `
  coalesce((
    select json_build_object('caches', caches, 'databases', databases, 'websockets', websockets, 'applications',
      applications, 'memoryBytes', memory_bytes, 'storageBytes', storage_bytes, 'connections', connections)
    from quota_usage where owner = ${owner}), '{"caches": 0, "databases": 0, "websockets": 0, "applications": 0,
      "memoryBytes": 0, "storageBytes": 0, "connections": 0}')`;

/** Whether the organization `o` of an outer statement shares its quotas, as SQL. */
export const IS_SHARED = `exists (select from organizations where family_id = o.family_id and id <> o.id)`;

const USAGES = `
  select t.name as "tokenName", ${IS_SHARED} as "isShared", ${usageOf("o.family_id")} as "ofFamily", ${usageOf("t.id")} as "ofToken",
         json_build_object('resources', max_resources, 'memoryBytes', max_memory_bytes, 'storageBytes',
           max_storage_bytes, 'connections', max_connections) as "tokenLimits"
  from organizations o left join tokens t on t.organization_id = o.id and t.revoked_at is null`;

/** The sums of a token, and of the family of its organization. A revoked token has no limits any more. */
export async function usagesOf(db: Queryable, { organizationId, tokenId }: QuotaOwner): Promise<Usages> {
  const [row] = await db<Usages[]>`
    ${db.unsafe(USAGES)} and t.id = ${tokenId}::text where o.id = ${organizationId}`;
  if (row === undefined) throw new Error("the organization of a quota is not there");
  return row;
}

/** The bytes on the disk that the family of an organization has now. */
export async function storageOf(
  db: Queryable,
  organizationId: string,
): Promise<{ bytes: number; isShared: boolean }> {
  const [row] = await db<{ bytes: number; isShared: boolean }[]>`
    select u.storage_bytes::float8 as bytes, ${db.unsafe(IS_SHARED)} as "isShared"
    from organizations o join quota_usage u on u.owner = o.family_id where o.id = ${organizationId}`;
  return row ?? { bytes: 0, isShared: false };
}

/** The instances whose measured bytes on the disk differ from the recorded bytes; deleted instances are left out. */
export async function changedStorage(
  db: Database,
  measured: Readonly<Record<string, number>>,
): Promise<{ id: string; bytes: number }[]> {
  return await db<{ id: string; bytes: number }[]>`
    select i.id, measured.value::float8 as bytes
    from json_each_text(${JSON.stringify(measured)}::text::json) measured
    join instances i on i.id = measured.key
    where i.storage_bytes <> measured.value::bigint order by i.resource_id, i.id`;
}

/** Records the bytes that an instance takes on the disk, as a part of its resource's; does nothing for a deleted instance. */
export async function updateStorage(tx: Transaction, id: string, bytes: number): Promise<void> {
  const [row] = await tx<{ resourceId: string }[]>`
    update instances set storage_bytes = ${bytes} where id = ${id} returning resource_id as "resourceId"`;
  if (row !== undefined) await sumStorage(tx, row.resourceId);
}

/**
 * Makes the storage of a resource the sum of its instances, after one of them has changed or gone. Instances are locked
 * before the allocation, as a deletion does.
 */
export async function sumStorage(tx: Transaction, resourceId: string): Promise<void> {
  await tx`select from allocations where resource_id = ${resourceId} for update`;
  // A statement of its own, since a statement that waited for the lock still sees the instances of before.
  await tx`
    update allocations
    set storage_bytes = (
      select coalesce(sum(storage_bytes), 0) from instances where resource_id = ${resourceId})
    where resource_id = ${resourceId}`;
}

/** The resources of earlier releases whose memory is not recorded yet. */
export async function unknownAllocations(db: Database): Promise<{ id: string; kind: string }[]> {
  return await db<{ id: string; kind: string }[]>`
    select resource_id as id, kind from allocations where memory_bytes is null order by resource_id`;
}

/** Records what a resource of an earlier release takes, unless another process has done so. */
export async function recordAllocation(
  db: Database,
  id: string,
  { memoryBytes, connections }: Allocation,
): Promise<void> {
  await db`
    update allocations set memory_bytes = ${memoryBytes}, connections = ${connections}
    where resource_id = ${id} and memory_bytes is null`;
}
