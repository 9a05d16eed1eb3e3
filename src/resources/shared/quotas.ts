// Holds families of organizations and tokens to their quotas, in the transaction that takes from the quotas.
import type { Principal } from "../../api/auth/auth.ts";
import { invalid, type FieldErrors } from "../../api/jsonapi/errors.ts";
import { addFault } from "../../api/operation/validation.ts";
import { byteSizeText } from "../../lib/byte-size.ts";
import type { Queryable, Transaction } from "../../store/database.ts";
import type { Quotas } from "../../lib/quota-settings.ts";
import type { Allocation } from "../kind.ts";
import {
  insertAllocation,
  lockAllocation,
  quotaOwnerOf,
  storageOf,
  updateAllocation,
  usagesOf,
  type CountedKind,
  type Usage,
  type Usages,
} from "./allocations.ts";

/** The fields of a request that decide how much of a quota the resource takes. */
export type AllocationFields = Record<keyof TakenByOrder, string> & {
  /** The field that is at fault for the number of resources; `type` when left out. */
  count?: string;
};

type TakenByOrder = { memory: number; connections: number };

/** A resource with its new allocation. */
export interface AllocationOrder {
  kind: CountedKind;
  id: string;
  allocation: Allocation;
  fields: AllocationFields;
}

/** One limited quantity. */
type QuotaName = keyof Quotas;

/**
 * The words for each quantity: its noun, its unit, the operator's setting, and the option of a token; in the order of
 * an answer.
 */
const QUOTA_TEXTS: Record<QuotaName, { noun: string; isBytes?: true; setting: string; option?: string }> = {
  resources: { noun: "resources", setting: "PILVI_QUOTA_RESOURCES", option: "--max-resources" },
  caches: { noun: "caches", setting: "PILVI_QUOTA_CACHES" },
  databases: { noun: "database clusters", setting: "PILVI_QUOTA_DATABASES" },
  websockets: { noun: "WebSocket clusters", setting: "PILVI_QUOTA_WEBSOCKETS" },
  applications: { noun: "environments of applications", setting: "PILVI_QUOTA_APPLICATIONS" },
  memoryBytes: { noun: "memory", isBytes: true, setting: "PILVI_QUOTA_MEMORY", option: "--max-memory" },
  storageBytes: { noun: "storage", isBytes: true, setting: "PILVI_QUOTA_STORAGE", option: "--max-storage" },
  connections: { noun: "connections", setting: "PILVI_QUOTA_CONNECTIONS", option: "--max-connections" },
  ports: { noun: "ports", setting: "PILVI_QUOTA_PORTS" },
};

const NAMES = Object.keys(QUOTA_TEXTS) as QuotaName[];

/** The totals of every limited quantity. @param ports which no sum is kept of; see `portsOf`. */
export function usedOf(usage: Usage, ports = 0): Quotas {
  const { caches, databases, websockets, applications } = usage;
  return { ...usage, resources: caches + databases + websockets + applications, ports };
}

/**
 * Takes what a new resource needs; the last step of its transaction.
 * @throws ApiError 422 that names each quota which the resource exceeds.
 */
export async function allocate(
  tx: Transaction,
  quotas: Quotas,
  principal: Principal,
  order: AllocationOrder,
): Promise<void> {
  const { kind, allocation, fields } = order;
  const { count: field = "type" } = fields;
  // Both statements travel together: from the first of them on, all other creates of the family wait.
  const [, usages] = await Promise.all([
    insertAllocation(tx, principal, order),
    usagesOf(tx, quotaOwnerOf(principal)),
  ]);
  refuseExcess(quotas, usages, {
    resources: { wanted: 1, field },
    [kind === "environments" ? "applications" : kind]: { wanted: 1, field },
    storageBytes: { wanted: 0, field },
    ...takenBy(allocation, fields),
  });
}

/**
 * Refuses what takes storage when the family or the token has more than its quota already; nothing is taken, since
 * storage is measured.
 * @param field the field of the request at fault.
 * @throws ApiError 422
 */
export async function refuseFullStorage(
  tx: Transaction,
  quotas: Quotas,
  principal: Principal,
  field: string,
): Promise<void> {
  refuseExcess(quotas, await usagesOf(tx, quotaOwnerOf(principal)), { storageBytes: { wanted: 0, field } });
}

/**
 * Why an organization with more storage than its quota, with those that share it, gets no more of it, as a sentence; null
 * for all others.
 */
export async function storageExcess(
  db: Queryable,
  { storageBytes: limit }: Quotas,
  organizationId: string,
): Promise<string | null> {
  const { bytes: used, isShared } = await storageOf(db, organizationId);
  if (limit === 0 || used <= limit) return null;
  return excessText({ owner: isShared ? "family" : "organization", limit, used, name: "storageBytes" });
}

/** The bytes that an organization, with those that share its quotas, may still take; zero or less when there are none. */
export async function storageRoom(
  db: Queryable,
  { storageBytes: limit }: Quotas,
  organizationId: string,
): Promise<number> {
  return limit === 0 ? Infinity : limit - (await storageOf(db, organizationId)).bytes;
}

/**
 * Takes the additional need of a changed resource, or returns what it no longer needs; the last step of its
 * transaction. A resource that grows counts for the token of the request, or a token could exceed its limits by means
 * of another token's resource.
 * @throws ApiError 422 that names each quota which the resource exceeds.
 */
export async function reallocate(
  tx: Transaction,
  quotas: Quotas,
  principal: Principal,
  order: AllocationOrder,
): Promise<void> {
  const { id, allocation, fields } = order;
  const former = await lockAllocation(tx, id);
  if (former === undefined) return await allocate(tx, quotas, principal, order);
  const growth = growthOf(former, allocation);
  if (growth.memoryBytes === 0 && growth.connections === 0) return;
  const isLarger = growth.memoryBytes > 0 || growth.connections > 0;
  const owner = quotaOwnerOf(principal);
  await updateAllocation(tx, id, allocation, isLarger ? owner.tokenId : null);
  if (isLarger) refuseExcess(quotas, await usagesOf(tx, owner), takenBy(growth, fields));
}

/**
 * The same for a change that nobody asks for, such as that of a release; the resource goes on to count for its token.
 * @returns the quotas that it exceeds as sentences; the transaction has to be taken back when there are any.
 */
export async function reallocateUnasked(
  tx: Transaction,
  quotas: Quotas,
  { id, allocation }: Pick<AllocationOrder, "id" | "allocation">,
): Promise<string[]> {
  const former = await lockAllocation(tx, id);
  if (former === undefined) throw new Error(`nothing is recorded of ${id}`);
  const growth = growthOf(former, allocation);
  await updateAllocation(tx, id, allocation, null);
  const wanted = takenBy(growth, { memory: "memory", connections: "connections" });
  return Object.values(excessOf(quotas, await usagesOf(tx, former), wanted)).flat();
}

function growthOf(former: Allocation, next: Allocation): Allocation {
  return {
    memoryBytes: next.memoryBytes - former.memoryBytes,
    connections: next.connections - former.connections,
  };
}

/**
 * The quotas above their limits, of an organization and its token, as sentences: an operator may have lowered a limit,
 * and storage grows by itself.
 */
export function noticesOf(quotas: Quotas, { tokenLimits, ...usages }: Usages, ports: number): string[] {
  const owners = [
    { owner: ownerOf(usages), limits: quotas, used: usedOf(usages.ofFamily, ports) },
    { owner: "token", limits: tokenLimits, used: usedOf(usages.ofToken) },
  ] as const;
  return owners.flatMap(({ owner, limits, used }) =>
    exceeded(limits, used, NAMES).map((name) => {
      const limit = { ...quotas, ...limits }[name] ?? 0;
      const sentence = excessText({ owner, limit, used: used[name], name });
      return `${sentence} Until then nothing is made that takes more of it.`;
    }),
  );
}

/** The additional amount of a quota, and the field that decides it. */
type Wanted = Partial<Record<QuotaName, { wanted: number; field: string }>>;

function takenBy({ memoryBytes, connections }: Allocation, fields: AllocationFields): Wanted {
  return {
    ...(memoryBytes > 0 && { memoryBytes: { wanted: memoryBytes, field: fields.memory } }),
    ...(connections > 0 && { connections: { wanted: connections, field: fields.connections } }),
  };
}

function refuseExcess(quotas: Quotas, usages: Usages, wanted: Wanted): void {
  const errors = excessOf(quotas, usages, wanted);
  if (Object.keys(errors).length > 0) throw invalid(errors);
}

/** The sums include the order already, and no other transaction can change them before this one ends. */
function excessOf(quotas: Quotas, { tokenLimits: limits, ...usages }: Usages, wanted: Wanted): FieldErrors {
  const errors: FieldErrors = {};
  const ofFamily = usedOf(usages.ofFamily);
  const names = Object.keys(wanted) as QuotaName[];
  for (const name of exceeded(quotas, ofFamily, names)) {
    const excess = { owner: ownerOf(usages), limit: quotas[name], used: ofFamily[name], name };
    addExcess(errors, excess, wanted);
  }
  const ofToken = usedOf(usages.ofToken);
  for (const name of exceeded(limits, ofToken, names)) {
    const limit = { ...quotas, ...limits }[name] ?? 0;
    addExcess(errors, { owner: "token", limit, used: ofToken[name], name }, wanted);
  }
  return errors;
}

/** The quotas that the totals exceed. Storage is measured and not ordered: it may be as large as its limit. */
function exceeded(
  limits: { [Name in QuotaName]?: number | null },
  used: Quotas,
  names: QuotaName[],
): QuotaName[] {
  return names.filter((name) => {
    const limit = limits[name] ?? 0;
    return limit !== 0 && used[name] > limit;
  });
}

/** An organization that shares its quotas is one of a family. */
type Owner = "organization" | "family" | "token";

/** The owner of the quotas of an organization. */
export function ownerOf({ isShared }: Pick<Usages, "isShared">): Owner {
  return isShared ? "family" : "organization";
}

/** Each owner as the subject of a sentence, with its verb. */
const OWNER_TEXTS: Record<Owner, { subject: string; has: string }> = {
  organization: { subject: "The organization", has: "has" },
  family: { subject: "The organization and those that share its quotas", has: "have" },
  token: { subject: "The token", has: "has" },
};

/** An amount that would be above a limit. */
export interface Excess {
  owner: Owner;
  limit: number;
  /** Including the request. */
  used: number;
  name: QuotaName;
}

function addExcess(errors: FieldErrors, { used, ...excess }: Excess, wanted: Wanted): void {
  const { wanted: amount = 0, field = "type" } = wanted[excess.name] ?? {};
  addFault(errors, field, excessText({ ...excess, used: used - amount }, amount));
}

/** A limit that is exceeded, as a sentence. @param wanted the additional amount that the request asks for. */
export function excessText({ owner, limit, used, name }: Excess, wanted = 0): string {
  const { noun, isBytes, setting, option } = QUOTA_TEXTS[name];
  const text = (value: number) => (isBytes ? byteSizeText(value) : String(value));
  const asked = wanted > 1 ? `, and this takes ${text(wanted)} more` : "";
  const raise =
    owner === "token"
      ? `use a token that was made with a larger ${option}`
      : `have the operator raise ${setting}`;
  const { subject, has } = OWNER_TEXTS[owner];
  return `${subject} may have ${text(limit)} ${isBytes ? "of " : ""}${noun} and ${has} ${text(used)}${asked}. Delete something, or ${raise}.`;
}
