// All kinds of resources that this Pilvi offers.
import { can } from "../api/auth/auth.ts";
import type { AnyOperation } from "../api/operation/operation.ts";
import type { Protocol } from "../api/operation/protocol.ts";
import type { Reconcile } from "../reconciler/loop.ts";
import type { Database } from "../store/database.ts";
import { accountOperations, SignIn } from "./accounts/index.ts";
import { activityOperation } from "./activity/index.ts";
import { applications } from "./applications/index.ts";
import { caches } from "./caches/index.ts";
import { databases } from "./databases/index.ts";
import type { BackupPolicy, KindContext, ResourceKind } from "./kind.ts";
import { listEventsOperation } from "./shared/events/routes.ts";
import { reconcileAction } from "./shared/actions/reconciler.ts";
import { ACTIONS } from "./shared/actions/store.ts";
import { reconcileArchive } from "./shared/backups/archive-reconciler.ts";
import { ARCHIVES, type ArchiveSource, type BackedUpKind } from "./shared/backups/archives.ts";
import { listBackupsOperation, storeBackupsOperation } from "./shared/backups/backups-routes.ts";
import { reconcileSnapshot } from "./shared/backups/snapshot-reconciler.ts";
import { SNAPSHOTS } from "./shared/backups/snapshots.ts";
import { VERIFICATIONS } from "./shared/backups/verifications.ts";
import { recordAllocation, unknownAllocations } from "./shared/allocations.ts";
import { memberOperations } from "./members/index.ts";
import { organizationOperation } from "./shared/organization.ts";
import { tokenOperations } from "./tokens/index.ts";
import type { ComputeUnits } from "./shared/usage/render.ts";
import { usageOperation } from "./shared/usage/routes.ts";
import { websockets } from "./websockets/index.ts";

export const kinds: ResourceKind[] = [caches, databases, websockets, applications];

const computeUnits = Object.assign({}, ...kinds.map((kind) => kind.computeUnits)) as ComputeUnits;

/**
 * Kinds of work whose runs usually take as long as the data is large, or as long as a client is waited for. A run of
 * another kind may take as long, such as the restore of a database: it counts as slow once it does.
 */
export const slowKinds = [
  ACTIONS,
  SNAPSHOTS,
  VERIFICATIONS,
  ...kinds.flatMap(({ slowWork = {} }) => Object.keys(slowWork)),
];

/** The operations of all kinds, and the operations that belong to no kind. */
export function allOperations(context: KindContext): AnyOperation[] {
  const signIn = new SignIn(context);
  const kindNames = kinds.map(({ name }) => name);
  return [
    ...kinds.flatMap((kind) => kind.operations(context)),
    listBackupsOperation(context),
    storeBackupsOperation(context),
    listEventsOperation(context),
    organizationOperation(context),
    ...accountOperations(context, signIn),
    ...memberOperations(context, signIn, kindNames),
    ...tokenOperations(context, kindNames),
    usageOperation(context, computeUnits),
    activityOperation(context),
  ];
}

/** The protocols of all kinds. */
export function allProtocols(context: KindContext): Protocol[] {
  return kinds.flatMap((kind) => kind.protocols?.(context) ?? []);
}

/** The reconciler of each kind of work item. */
export function allReconcilers(context: KindContext): ReadonlyMap<string, Reconcile> {
  const ofKinds = kinds.flatMap(({ name, reconcile }) =>
    reconcile ? [[name, reconcile(context)] as const] : [],
  );
  const slow = kinds.flatMap(({ slowWork = {} }) =>
    Object.entries(slowWork).map(([name, reconcile]) => [name, reconcile(context)] as const),
  );
  return new Map([
    ...ofKinds,
    ...slow,
    [ACTIONS, reconcileAction(context)],
    [SNAPSHOTS, reconcileSnapshot(context)],
    [ARCHIVES, reconcileArchive(context, backupPolicyOf)],
  ]);
}

function kindOf(name: string): ResourceKind | undefined {
  return kinds.find((kind) => kind.name === name);
}

/** The context of all kinds, each of which can ask for the resources of the others and their variables. */
export function kindContext(parts: Omit<KindContext, "connectionVariables" | "attached">): KindContext {
  const context: KindContext = {
    ...parts,
    connectionVariables: async (name, id) => (await kindOf(name)?.connectionVariables?.(context, id)) ?? {},
    attached: async (name, principal, ids) =>
      can(principal, `${name}:read`) ? ((await kindOf(name)?.attached?.(context, principal, ids)) ?? []) : [],
  };
  return context;
}

function backupPolicyOf(name: BackedUpKind, source: ArchiveSource): BackupPolicy | null {
  return kindOf(name)?.backupPolicyOf?.(source) ?? null;
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
