// The part of its organization's quotas that an environment takes: a resource, and the memory of its processes.
import type { Principal } from "../../../api/auth/auth.ts";
import type { PlannedProcess } from "../../../contracts/plan.ts";
import { PublicError } from "../../../lib/errors.ts";
import type { Quotas } from "../../../lib/quota-settings.ts";
import type { Queryable, Transaction } from "../../../store/database.ts";
import type { Allocation, KindContext } from "../../kind.ts";
import { deleteAllocation } from "../../shared/allocations.ts";
import { allocate, reallocate, reallocateUnasked, type AllocationOrder } from "../../shared/quotas.ts";
import { takeProcfile } from "../background-processes/bound.ts";
import { orderedProcessesOf } from "../background-processes/store.ts";
import { sizeNamed } from "../instances/sizes.ts";

/**
 * Takes what a new environment needs; the last step of its transaction.
 * @throws ApiError 422 as `allocate` does.
 */
export async function allocateEnvironment(
  tx: Transaction,
  quotas: Quotas,
  principal: Principal,
  id: string,
): Promise<void> {
  await allocate(tx, quotas, principal, await orderOf(tx, id, "name"));
}

/**
 * Takes what an environment needs more after a change of its instances or its background processes, or returns what it
 * no longer needs; the last step of the transaction.
 * @param field the member of the request that decides it.
 * @throws ApiError 422 as `reallocate` does.
 */
export async function reallocateEnvironment(
  tx: Transaction,
  quotas: Quotas,
  principal: Principal,
  { id, field }: { id: string; field: string },
): Promise<void> {
  await reallocate(tx, quotas, principal, await orderOf(tx, id, field));
}

/**
 * The same after a release has brought its processes; the last step of the transaction.
 * @throws PublicError when they do not fit.
 */
export async function reallocateRelease(tx: Transaction, quotas: Quotas, id: string): Promise<void> {
  const excess = await reallocateUnasked(tx, quotas, await orderOf(tx, id, "processes"));
  if (excess.length > 0)
    throw new PublicError(["The processes of the Procfile do not fit.", ...excess].join(" "));
}

/**
 * Refuses a release whose processes do not fit, before it has changed any data; nothing is taken yet.
 * @throws PublicError
 */
export async function assertReleaseFits(
  { db, quotas }: Pick<KindContext, "db" | "quotas">,
  id: string,
  processes: readonly PlannedProcess[],
): Promise<void> {
  await db.begin(async (tx) => {
    await tx`savepoint before_processes`;
    await takeProcfile(tx, id, processes);
    await reallocateRelease(tx, quotas, id);
    await tx`rollback to savepoint before_processes`;
  });
}

/** Returns what a deleted environment took. */
export async function forgetEnvironment(tx: Transaction, id: string): Promise<void> {
  await deleteAllocation(tx, keyOf(id));
}

async function orderOf(tx: Transaction, id: string, field: string): Promise<AllocationOrder> {
  const fields = { count: field, memory: field, connections: field };
  return { kind: "environments", id: keyOf(id), allocation: await allocationOf(tx, id), fields };
}

/** Each process has the memory of the size of its instance. */
async function allocationOf(db: Queryable, id: string): Promise<Allocation> {
  const ordered = await orderedProcessesOf(db, id);
  const memoryBytes = ordered.reduce((sum, { size, count }) => sum + count * sizeNamed(size).memoryBytes, 0);
  return { memoryBytes, connections: 0 };
}

/** The id of an environment is that of its instances as well, whose disk is counted by itself. */
function keyOf(id: string): string {
  return `environment-${id}`;
}
