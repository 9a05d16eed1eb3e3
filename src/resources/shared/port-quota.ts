// Holds families of organizations to their part of a host's ports, in the transaction that takes one.
import { invalid } from "../../api/jsonapi/errors.ts";
import { PublicError } from "../../lib/errors.ts";
import type { Quotas } from "../../lib/quota-settings.ts";
import type { Queryable, Transaction } from "../../store/database.ts";
import { IS_SHARED } from "./allocations.ts";
import { excessText, ownerOf } from "./quotas.ts";

/** More than the transactions that can be under way at once, so that these alone never come to the limit. */
const NEAR = 200;

/** An organization, and a host at which its family has ports. */
export interface PortOwner {
  organizationId: string;
  hostId: string;
}

/** A family may have no more ports; the message says so to its members. */
export class PortQuotaExceeded extends PublicError {
  override name = "PortQuotaExceeded";
}

/** How many ports of a host the family of an organization has. */
export async function portsOf(db: Queryable, { organizationId, hostId }: PortOwner): Promise<number> {
  const [row] = await db<{ used: number }[]>`
    select count(*)::int as used from instances
    where family_id = (select family_id from organizations where id = ${organizationId})
      and host_id = ${hostId} and port is not null`;
  return row?.used ?? 0;
}

/**
 * Has a family take another port only while it has fewer than its limit. Close to the limit, its transactions take ports
 * one after the other, since none sees what the others have not committed.
 * @param limit 0 is no limit.
 * @throws PortQuotaExceeded
 */
export async function assertPortsLeft(tx: Transaction, owner: PortOwner, limit: number): Promise<void> {
  if (limit === 0 || (await portsOf(tx, owner)) < limit - NEAR) return;
  await tx`
    select pg_advisory_xact_lock(hashtextextended('ports of ' || family_id, 0))
    from organizations where id = ${owner.organizationId}`;
  const used = await portsOf(tx, owner);
  if (used >= limit) throw new PortQuotaExceeded(await sentence(tx, owner, { limit, used }));
}

/**
 * Refuses an order that later takes more ports than are left; the ports themselves are not taken.
 * @throws ApiError 422 for the field.
 */
export async function refuseExcessPorts(
  tx: Transaction,
  { ports: limit }: Quotas,
  owner: PortOwner,
  { wanted, field }: { wanted: number; field: string },
): Promise<void> {
  if (limit === 0 || wanted <= 0) return;
  const used = await portsOf(tx, owner);
  if (used + wanted > limit) throw invalid({ [field]: [await sentence(tx, owner, { limit, used, wanted })] });
}

async function sentence(
  tx: Transaction,
  { organizationId }: PortOwner,
  { wanted = 1, ...amounts }: { limit: number; used: number; wanted?: number },
): Promise<string> {
  const [row] = await tx<{ isShared: boolean }[]>`
    select ${tx.unsafe(IS_SHARED)} as "isShared" from organizations o where id = ${organizationId}`;
  const owner = ownerOf({ isShared: row?.isShared ?? false });
  return excessText({ owner, name: "ports", ...amounts }, wanted);
}
