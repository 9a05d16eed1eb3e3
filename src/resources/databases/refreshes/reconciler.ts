// Refreshes clones: makes the new data in a stage beside the clone, masks it there, and has the clone take it over. The
// clone serves its former data until then. A run after a kill repeats the step.
import { failpoint } from "../../../lib/failpoint.ts";
import type { Outcome, Reconcile } from "../../../reconciler/loop.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import { RESTORE_DEADLINE_SECONDS } from "../../shared/create.ts";
import { watchObsolete } from "../../shared/obsolescence-watch.ts";
import { PortQuotaExceeded } from "../../shared/port-quota.ts";
import { withFreePort } from "../../shared/ports.ts";
import { isServed } from "../../shared/status.ts";
import { ensureLogin } from "../login.ts";
import { maskData, type MaskResult } from "../masks/apply.ts";
import { findMask } from "../masks/store.ts";
import { loadDatabaseCluster, type DatabaseClusterRow } from "../store.ts";
import { beginSwap, failRefresh } from "./ends.ts";
import { stageLoginOf, stageSpecOf } from "./stage.ts";
import { eraseSideInstance, type SideInstance } from "../side-instances.ts";
import { insertStage, isUnderWay, noteFailing, type StoredRefresh } from "./store.ts";

type Driver = ServedHost["driver"];

/** How soon a stage is looked at again that could not be started. */
const PAUSE_MS = 5_000;

/** How long a stage that does not start is tried again after its first failure. */
const TRIED_MS = 10 * 60_000;

/** The reconciler of refreshes; the id is that of the clone. */
export function reconcileRefreshes(context: KindContext): Reconcile {
  const { db, hosts } = context;
  return async (id, signal) => {
    const cluster = await loadDatabaseCluster(db, id);
    if (cluster === null) return { result: "gone" };
    // The cluster's own run removes the stages.
    if (cluster.status === "deleting") return { result: { settled: true } };
    const { driver } = hosts.of(cluster.hostId);
    const { refresh, stages } = cluster;
    const wanted = isUnderWay(refresh) ? refresh?.id : undefined;
    const useless = stages.filter((stage) => stage.id !== wanted);
    await removeStages(context, driver, { id, stages: useless }, signal);
    // While the clone takes over the data, its own run goes on.
    if (refresh?.state !== "building") return { result: { settled: true } };
    const stage = stages.find((each) => each.id === refresh.id);
    if (stage === undefined) return await place(context, cluster, refresh);
    return await build(context, { cluster, refresh, stage, driver }, signal);
  };
}

/** Removes stages with what is left of their data. A stage that is gone already is only forgotten. */
export async function removeStages(
  { db }: Pick<KindContext, "db">,
  driver: Driver,
  { id: clusterId, stages }: Pick<DatabaseClusterRow, "id" | "stages">,
  signal: AbortSignal,
): Promise<void> {
  for (const { id } of stages) {
    await driver.remove(id, signal);
    await failpoint("refresh.removed");
    await db.begin((tx) => eraseSideInstance(tx, clusterId, id));
  }
}

/** Gives the stage an address; a refresh fails that may have none. */
async function place(
  context: KindContext,
  cluster: DatabaseClusterRow,
  refresh: StoredRefresh,
): Promise<Outcome> {
  try {
    await withFreePort(context, context.hosts.of(cluster.hostId), (offer) =>
      context.db.begin((tx) => insertStage(tx, cluster, refresh.id, offer)),
    );
  } catch (error) {
    if (!(error instanceof PortQuotaExceeded)) throw error;
    return await failed(context, { cluster, refresh }, error.message);
  }
  await failpoint("refresh.placed");
  return again(0, null);
}

/** A refresh whose stage has an address. */
interface Building {
  cluster: DatabaseClusterRow;
  refresh: StoredRefresh;
  stage: SideInstance;
  driver: Driver;
}

async function build(context: KindContext, building: Building, signal: AbortSignal): Promise<Outcome> {
  const { db } = context;
  const { cluster, refresh, stage, driver } = building;
  const isDeleting = async () =>
    ((await loadDatabaseCluster(db, cluster.id))?.status ?? "deleting") === "deleting";
  const watch = watchObsolete(isDeleting, signal);
  try {
    const ends = AbortSignal.any([signal, watch.obsolete]);
    const seen = await driver.ensure(stageSpecOf(cluster, refresh, stage, context), ends);
    await failpoint("refresh.built");
    if (seen.restoreFailed === true) return await failed(context, building, seen.lastError);
    if (!isServed(seen)) return await notStarted(context, building, seen.lastError);
    const { missingDatabases = [] } = seen;
    const databases = refresh.databases.filter((name) => !missingDatabases.includes(name));
    const masked = await mask(context, building, databases, { isDeleting, signal });
    if (typeof masked === "object") return await failed(context, building, masked.failure);
    if (masked === "deleted") return again(0, null);
    await ensureLogin({ ...stageLoginOf(cluster, stage, context), database: databases[0] });
    await failpoint("refresh.masked");
    await beginSwap(db, cluster, refresh, databases);
    return { result: { settled: true } };
  } catch (error) {
    if (watch.obsolete.aborted) return again(0, null);
    throw error;
  } finally {
    watch.end();
  }
}

/**
 * Tries a stage again that does not start, such as while the keeper is away. The data of a large stage takes longer to
 * make than a stage is tried again, so that time counts from the first failure.
 */
async function notStarted(context: KindContext, building: Building, reason: string | null): Promise<Outcome> {
  const { cluster, refresh } = building;
  const { failingSince } = refresh;
  if (failingSince === undefined) await noteFailing(context.db, cluster.id, refresh);
  else if (Date.now() > Date.parse(failingSince) + TRIED_MS) return await failed(context, building, reason);
  return again(PAUSE_MS, reason);
}

/** Masks the data of a masked clone again. */
async function mask(
  context: KindContext,
  { cluster, stage }: Building,
  databases: string[],
  { isDeleting, signal }: { isDeleting(): Promise<boolean>; signal: AbortSignal },
): Promise<MaskResult> {
  if (cluster.origin?.clone?.isMasked !== true) return "none";
  const found = await findMask(context.db, cluster.id, context.vault);
  if (found === undefined) return { failure: "The data could not be masked: the SQL is gone." };
  const login = stageLoginOf(cluster, stage, context);
  return await maskData({ login, databases, mask: found, isDeleting }, signal);
}

/** The next run removes the stage. */
async function failed(
  { db }: KindContext,
  { cluster, refresh }: Pick<Building, "cluster" | "refresh">,
  reason: string | null,
): Promise<Outcome> {
  await failRefresh(db, cluster, refresh, reason ?? "The host gives no reason.");
  return again(0, null);
}

function again(retryMs: number, lastError: string | null): Outcome {
  return { result: { settled: false, retryMs, lastError, deadlineSeconds: RESTORE_DEADLINE_SECONDS } };
}
