// Brings one instance to its desired state: a running engine that takes the customer's credentials, or nothing left of
// it.
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { Observation } from "../../contracts/observation.ts";
import type { Driver } from "../../drivers/driver.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Outcome, Reconcile } from "../../reconciler/loop.ts";
import type { Database, Transaction } from "../../store/database.ts";
import type { KindContext } from "../kind.ts";
import { isServed, nextStatus, type CommonStatus } from "./status.ts";

/** The time in seconds after which an ended engine should be back; crash recovery reads what the engine wrote last. */
const RECOVERY_DEADLINE_SECONDS = 120;

/**
 * The delay of the next run after the host could not start an engine. The host retries by itself, and reports when it
 * succeeds.
 */
const HOST_RETRY_MS = 5_000;

const DATA_IS_GONE =
  "The host has no data of it any more. Put its folder back from a backup and restart Pilvi, or delete it.";

/** The steps that differ between the kinds. */
export interface InstanceSteps<Row, Lost extends string> {
  load(db: Database, id: string): Promise<Row | null>;
  specOf(row: Row): InstanceSpec;
  /** Logs in as the customer does, through the published address. @throws PublicError when the login fails. */
  ensureLogin(row: Row, seen: Observation): Promise<void>;
  /**
   * Writes the status and the observed state. `isReached` is true when all of the desired state that the row had at the
   * start of the run is in force, except for pending databases.
   */
  write(
    tx: Transaction,
    row: Row,
    status: CommonStatus<Lost>,
    seen: Observation,
    isReached: boolean,
  ): Promise<void>;
  /** Removes every row of the resource except its audit. */
  erase(tx: Transaction, id: string): Promise<void>;
  /** The kind's status of an instance that was available and is not at the moment. */
  lost: Lost;
}

/** The reconciler of a kind. */
export function reconcileInstance<
  Row extends { id: string; hostId: string; status: string },
  Lost extends string,
>({ db, hosts }: Pick<KindContext, "db" | "hosts">, steps: InstanceSteps<Row, Lost>): Reconcile {
  const outcome = (row: Row, seen: Observation, isReached: boolean, retryMs = 0): Outcome => ({
    result:
      isReached && !isPending(seen)
        ? { settled: true }
        : { settled: false, retryMs, lastError: seen.lastError, deadlineSeconds: RECOVERY_DEADLINE_SECONDS },
    write: (tx) => steps.write(tx, row, nextStatus(row.status, isReached, steps.lost), seen, isReached),
  });
  const goneOutcome = (row: Row, seen: Observation): Outcome => ({
    result: { settled: false, retryMs: HOST_RETRY_MS, lastError: DATA_IS_GONE },
    write: (tx) => steps.write(tx, row, "unknown", { ...seen, lastError: DATA_IS_GONE }, false),
  });
  return async (id, signal) => {
    const row = await steps.load(db, id);
    if (row === null) return { result: "gone" };
    const { driver } = hosts.of(row.hostId);
    if (row.status === "deleting") return await remove(driver, steps, id);
    if (row.status !== "creating") {
      const seen = await driver.observe(id);
      // An empty instance in its place would hide that data is gone; a backup might still restore it.
      if (seen.state === "absent") return goneOutcome(row, seen);
      // Written before the repair, so that no answer calls an instance available that does not run.
      if (row.status === "available" && !isServed(seen)) return outcome(row, seen, false);
    }
    const seen = await driver.ensure(steps.specOf(row), signal);
    await failpoint("reconcile.ensured");
    if (!isServed(seen)) return outcome(row, seen, false, HOST_RETRY_MS);
    if (!isLoginNeeded(row, seen)) return outcome(row, seen, true, HOST_RETRY_MS);
    await steps.ensureLogin(row, seen);
    await failpoint("reconcile.logged-in");
    return outcome(row, seen, true, HOST_RETRY_MS);
  };
}

/** Whether a database is still pending while the instance serves. */
function isPending({ pendingDatabases = [] }: Observation): boolean {
  return pendingDatabases.length > 0;
}

/**
 * A login would wake a sleeping instance, and repeated logins would keep an instance with a pending database awake. The
 * instance took a login before, unless it has never been available.
 */
function isLoginNeeded({ status }: { status: string }, seen: Observation): boolean {
  if (status === "creating") return true;
  return seen.state === "running" && !(status === "available" && isPending(seen));
}

async function remove<Row, Lost extends string>(
  driver: Driver,
  steps: InstanceSteps<Row, Lost>,
  id: string,
): Promise<Outcome> {
  await driver.remove(id);
  await failpoint("reconcile.removed");
  return { result: "gone", write: (tx) => steps.erase(tx, id) };
}
