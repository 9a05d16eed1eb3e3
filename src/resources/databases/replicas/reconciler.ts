// Brings the read replicas of a cluster to their number and their spec. The cluster's own status does not depend on them.
// A run waits for replicas that are built, until it is done or replicas are ordered anew.
import { ApiError } from "../../../api/jsonapi/errors.ts";
import type { Observation } from "../../../contracts/observation.ts";
import type { PostgresSpec } from "../../../contracts/instance-spec.ts";
import { failpoint } from "../../../lib/failpoint.ts";
import { newId } from "../../../lib/ids.ts";
import type { Outcome, Reconcile } from "../../../reconciler/loop.ts";
import { isQueuedAgain } from "../../../reconciler/queue.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import { RESTORE_DEADLINE_SECONDS } from "../../shared/create.ts";
import { watchObsolete } from "../../shared/obsolescence-watch.ts";
import { PortQuotaExceeded } from "../../shared/port-quota.ts";
import { withFreePort } from "../../shared/ports.ts";
import { isServed } from "../../shared/status.ts";
import { specOf } from "../spec.ts";
import { loadDatabaseCluster, type DatabaseClusterRow } from "../store.ts";
import { replicaCountOf } from "./count.ts";
import type { SideInstance } from "../side-instances.ts";
import { eraseReplica, insertReplica, REPLICAS } from "./store.ts";

type Driver = ServedHost["driver"];

/** How soon a cluster is looked at again that has no backup yet, whose replica could not be started, or got no port. */
const PAUSE_MS = { noBackup: 1_000, failed: 5_000, noPort: 30_000 };

/** The reconciler of replicas; the id is that of their cluster. */
export function reconcileReplicas(context: KindContext): Reconcile {
  const { db, hosts } = context;
  return async (id, signal) => {
    const found = await loadDatabaseCluster(db, id);
    if (found === null) return { result: "gone" };
    // The cluster's own run removes them all.
    if (found.status === "deleting") return { result: { settled: true } };
    const { driver } = hosts.of(found.hostId);
    const count = replicaCountOf(found);
    const unwanted = found.replicas.slice(count);
    await removeReplicas(context, driver, { id, replicas: unwanted }, signal);
    const refusal = await placeMissing(context, found, count - found.replicas.length);
    const cluster = count === 0 ? null : await loadDatabaseCluster(db, id);
    const outcome = await ensurePresent(context, driver, cluster, signal);
    const isDone = outcome.result !== "gone" && outcome.result.settled;
    return refusal !== null && isDone ? again(PAUSE_MS.noPort, refusal) : outcome;
  };
}

/** @returns why there are no ports for all of them, as a sentence; null when there are. */
async function placeMissing(
  context: KindContext,
  cluster: DatabaseClusterRow,
  count: number,
): Promise<string | null> {
  try {
    for (let missing = count; missing > 0; missing -= 1) await place(context, cluster);
    return null;
  } catch (error) {
    const isWithoutPort =
      error instanceof PortQuotaExceeded || (error instanceof ApiError && error.status === 503);
    if (isWithoutPort) return error.message;
    throw error;
  }
}

async function ensurePresent(
  context: KindContext,
  driver: Driver,
  cluster: DatabaseClusterRow | null,
  signal: AbortSignal,
): Promise<Outcome> {
  if (cluster === null || cluster.replicas.length === 0) return { result: { settled: true } };
  const archive = await driver.archive(cluster.id);
  if ((archive?.log?.earliestRestoreTime ?? null) === null) return again(PAUSE_MS.noBackup, null);
  return await ensureAll(context, driver, cluster, signal);
}

/** Removes replicas, and forgets them. A replica that is gone already is only forgotten. */
export async function removeReplicas(
  { db }: Pick<KindContext, "db">,
  driver: Driver,
  { id: clusterId, replicas }: Pick<DatabaseClusterRow, "id" | "replicas">,
  signal: AbortSignal,
): Promise<void> {
  // The newest goes first, so that the addresses of the others stay the first of the list.
  for (const { id } of replicas.toReversed()) {
    await driver.remove(id, signal);
    await failpoint("replica.removed");
    await db.begin((tx) => eraseReplica(tx, clusterId, id));
  }
}

/** Gives another replica an address. */
async function place(context: KindContext, cluster: DatabaseClusterRow): Promise<void> {
  const id = newId("replica");
  await withFreePort(context, context.hosts.of(cluster.hostId), (offer) =>
    context.db.begin((tx) => insertReplica(tx, cluster, id, offer)),
  );
}

/**
 * Has the host bring all replicas to their spec at once. A build may take as long as the data is large, so the run is
 * given up for another order: the next run brings it to the replicas that work already, removes what is no longer wanted,
 * and waits for the builds again, which go on meanwhile.
 */
async function ensureAll(
  context: KindContext,
  driver: Driver,
  cluster: DatabaseClusterRow,
  signal: AbortSignal,
): Promise<Outcome> {
  const watch = watchObsolete(() => isObsolete(context, cluster.id), signal);
  const ends = AbortSignal.any([signal, watch.obsolete]);
  try {
    const seen = await Promise.all(
      cluster.replicas.map((replica) => driver.ensure(replicaSpecOf(cluster, replica, context), ends)),
    );
    await failpoint("replica.ensured");
    const failed = seen.find((each) => !isServed(each));
    return failed === undefined ? { result: { settled: true } } : again(PAUSE_MS.failed, failed.lastError);
  } catch (error) {
    if (watch.obsolete.aborted) return again(0, null);
    throw error;
  } finally {
    watch.end();
  }
}

/** Whether the replicas were ordered anew during the run, or their cluster is being deleted. */
async function isObsolete({ db }: KindContext, id: string): Promise<boolean> {
  if (await isQueuedAgain(db, { kind: REPLICAS, id })) return true;
  return ((await loadDatabaseCluster(db, id))?.status ?? "deleting") === "deleting";
}

function again(retryMs: number, lastError: Observation["lastError"]): Outcome {
  return { result: { settled: false, retryMs, lastError, deadlineSeconds: RESTORE_DEADLINE_SECONDS } };
}

/** The spec of a replica: as its cluster's, but with an address of its own, and what is in the data comes with the log. */
function replicaSpecOf(
  cluster: DatabaseClusterRow,
  { id, port }: SideInstance,
  context: Pick<KindContext, "vault">,
): PostgresSpec {
  const spec = specOf(cluster, context);
  if (spec.kind === "mysql") throw new Error(`${cluster.id} cannot have replicas`);
  const { origin: _origin, keepsLog: _keepsLog, ...shared } = spec;
  return { ...shared, id, replicaOf: cluster.id, exposure: { ...spec.exposure, port }, databases: [] };
}
