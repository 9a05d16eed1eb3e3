// All kinds of resources that this Pilvi offers.
import type { AnyOperation } from "../api/operation/operation.ts";
import type { Reconcile } from "../reconciler/loop.ts";
import type { Database } from "../store/database.ts";
import { accountOperations, SignIn } from "./accounts/index.ts";
import { activityOperation } from "./activity/index.ts";
import { caches } from "./caches/index.ts";
import { databases } from "./databases/index.ts";
import type { KindContext, ResourceKind } from "./kind.ts";
import { listEventsOperation } from "./shared/events/routes.ts";
import { reconcileAction } from "./shared/actions/reconciler.ts";
import { ACTIONS } from "./shared/actions/store.ts";
import { recordAllocation, unknownAllocations } from "./shared/allocations.ts";
import { memberOperations } from "./members/index.ts";
import { organizationOperation } from "./shared/organization.ts";
import { tokenOperations } from "./tokens/index.ts";
import type { ComputeUnits } from "./shared/usage/render.ts";
import { usageOperation } from "./shared/usage/routes.ts";
import { websockets } from "./websockets/index.ts";

export const kinds: ResourceKind[] = [caches, databases, websockets];

const computeUnits = Object.assign({}, ...kinds.map((kind) => kind.computeUnits)) as ComputeUnits;

/** The operations of all kinds, and the operations that belong to no kind. */
export function allOperations(context: KindContext): AnyOperation[] {
  const signIn = new SignIn(context.db);
  const kindNames = kinds.map(({ name }) => name);
  return [
    ...kinds.flatMap((kind) => kind.operations(context)),
    listEventsOperation(context),
    organizationOperation(context),
    ...accountOperations(context, signIn),
    ...memberOperations(context, signIn, kindNames),
    ...tokenOperations(context, kindNames),
    usageOperation(context, computeUnits),
    activityOperation(context),
  ];
}

/** The reconciler of each kind of work item. */
export function allReconcilers(context: KindContext): ReadonlyMap<string, Reconcile> {
  const ofKinds = kinds.flatMap(({ name, reconcile }) =>
    reconcile ? [[name, reconcile(context)] as const] : [],
  );
  return new Map([...ofKinds, [ACTIONS, reconcileAction(context)]]);
}

/**
 * Records the allocations of an earlier release's resources; only this release's code knows the sizes. A killed process
 * continues with the rest at its next start.
 */
export async function recordUnknownAllocations(db: Database): Promise<void> {
  for (const { id, kind: name } of await unknownAllocations(db)) {
    const kind = kinds.find((each) => each.name === name);
    const allocation = (await kind?.allocationOf?.(db, id)) ?? null;
    if (allocation !== null) await recordAllocation(db, id, allocation);
  }
}
