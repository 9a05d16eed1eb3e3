// The refresh of a clone, in the row of the clone, and the instance beside it in which the new data is made.
import type { Origin } from "../../../contracts/instance-spec.ts";
import type { Queryable, Transaction } from "../../../store/database.ts";
import { recordEvent } from "../../shared/events/record.ts";
import type { PortOffer } from "../../shared/ports.ts";
import {
  closeSideWork,
  enqueueSideWork,
  insertSideInstance,
  sideInstancesSql,
  type GrowingCluster,
  type OwnerCluster,
} from "../side-instances.ts";

/** The kind of refreshes in the work queue, where the id is that of the clone. */
export const REFRESHES = "refreshes";

/** The column `refresh` of a clone. */
export interface StoredRefresh {
  /** The id of the instance in which the data is made, the stage. */
  id: string;
  from: Origin;
  /** The names of the databases that were in the data when it was asked for. */
  databases: string[];
  /**
   * - `building`: the stage gets the data, which is masked there; the clone serves its former data.
   * - `swapping`: the data is whole, and the clone takes it over.
   */
  state: "building" | "swapping" | "done" | "failed";
  /** ISO 8601. */
  startedAt: string;
  /** Since when its stage does not start, ISO 8601; left out before the first failure. */
  failingSince?: string;
  endedAt?: string;
  /** Why it has failed. */
  error?: string;
}

/** The stages of the cluster `r` of an outer statement, as JSON. */
export const STAGES_OF_CLUSTER = sideInstancesSql(REFRESHES);

/** Whether the data of a clone is being made, or taken over. */
export function isUnderWay(refresh: StoredRefresh | null): boolean {
  return refresh?.state === "building" || refresh?.state === "swapping";
}

/** The member of a spec that names the stage whose data the clone has. */
export function adoptedIn(refresh: StoredRefresh | null): { adopts?: string } {
  return refresh?.state === "swapping" || refresh?.state === "done" ? { adopts: refresh.id } : {};
}

/** Has the reconciler look at the refresh of a clone. */
export async function enqueueRefresh(tx: Queryable, cluster: OwnerCluster): Promise<void> {
  await enqueueSideWork(tx, REFRESHES, cluster);
}

/** Has the reconciler find that the cluster is gone; there need not have been a refresh. */
export async function closeRefreshes(tx: Transaction, id: string): Promise<void> {
  await closeSideWork(tx, REFRESHES, id);
}

/** Writes a refresh that begins. */
export async function insertRefresh(tx: Transaction, id: string, refresh: StoredRefresh): Promise<void> {
  await tx`update databases set refresh = ${refresh}::jsonb where id = ${id}`;
}

/** Notes that the stage of a refresh does not start from now on. */
export async function noteFailing(db: Queryable, clusterId: string, refresh: StoredRefresh): Promise<void> {
  await advanceRefresh(db, clusterId, refresh, { failingSince: new Date().toISOString() });
}

/** Brings a refresh to its next state, unless it is in another state than before. @returns whether it was. */
export async function advanceRefresh(
  tx: Queryable,
  clusterId: string,
  { id, state: former }: Pick<StoredRefresh, "id" | "state">,
  next: Partial<StoredRefresh>,
): Promise<boolean> {
  const rows = await tx`
    update databases set refresh = refresh || ${next}::jsonb
    where id = ${clusterId} and refresh ->> 'id' = ${id} and refresh ->> 'state' = ${former}
    returning id`;
  return rows.length > 0;
}

/** Whether a refresh is under way now. */
export async function isRefreshUnderWay(tx: Transaction, id: string): Promise<boolean> {
  const rows = await tx`
    select from databases where id = ${id} and refresh ->> 'state' in ('building', 'swapping')`;
  return rows.length > 0;
}

/** The clone has taken over the data, so the refresh is done and its stage is of no use. */
export async function endSwap(
  tx: Transaction,
  cluster: OwnerCluster & { organizationId: string; name: string; refresh: StoredRefresh | null },
): Promise<void> {
  const { id, name, organizationId, refresh } = cluster;
  if (refresh?.state !== "swapping") return;
  const endedAt = new Date().toISOString();
  if (!(await advanceRefresh(tx, id, refresh, { state: "done", endedAt }))) return;
  await enqueueRefresh(tx, cluster);
  await recordEvent(tx, { organizationId, type: "refreshed", resource: { type: "databases", id, name } });
}

/**
 * Gives a new stage its port, unless its cluster is being deleted.
 * @throws PortQuotaExceeded, PortsTaken, ApiError as `takePort` does.
 */
export async function insertStage(
  tx: Transaction,
  cluster: GrowingCluster,
  id: string,
  offer: PortOffer,
): Promise<void> {
  await insertSideInstance(tx, cluster, { id, kind: REFRESHES }, offer);
}
