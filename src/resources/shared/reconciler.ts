// Brings one instance to its desired state: a running engine that takes the customer's credentials, or nothing left of
// it.
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { Observation } from "../../contracts/observation.ts";
import type { Driver } from "../../drivers/driver.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Outcome, Reconcile } from "../../reconciler/loop.ts";
import type { Database, Transaction } from "../../store/database.ts";
import type { KindContext } from "../kind.ts";
import { watchObsolete } from "./obsolescence-watch.ts";
import { isFirst, isServed, nextStatus, type CommonStatus } from "./status.ts";

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
interface InstanceSteps<Row, Lost extends string> {
  load(db: Database, id: string): Promise<Row | null>;
  specOf(row: Row): InstanceSpec;
  /** Logs in as the customer does, through the published address. @throws PublicError when the login fails. */
  ensureLogin(row: Row, seen: Observation): Promise<void>;
  /** Runs when the host has made the order true, before anybody may rely on that. A run that is killed is repeated. */
  ensured?(row: Row, driver: Driver): Promise<void>;
  /**
   * Changes restored data before its owner may log in; left out by a kind whose data is used as it is. A result other
   * than "none" was written by itself and may change the spec, or is the reason why the restore has failed.
   */
  ensureMasked?(
    row: Row,
    seen: Observation,
    signal: AbortSignal,
  ): Promise<"none" | "done" | "deleted" | { failure: string }>;
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
  /** When the desired state changes by the clock alone; left out by a kind without such changes. */
  changesAt?(row: Row): Date | undefined;
  /** Removes further instances of the resource; left out by a kind whose resources have one instance each. */
  beforeRemoval?(row: Row, driver: Driver, signal: AbortSignal): Promise<void>;
  /** Removes every row of the resource except its audit. */
  erase(tx: Transaction, id: string): Promise<void>;
  /** The kind's status of an instance that was available and is not at the moment. */
  lost: Lost;
}

/** The row has changed meanwhile. */
const againOutcome: Outcome = { result: { settled: false, retryMs: 0, lastError: null } };

/** The reconciler of a kind. */
export function reconcileInstance<
  Row extends { id: string; hostId: string; status: string },
  Lost extends string,
>({ db, hosts }: Pick<KindContext, "db" | "hosts">, steps: InstanceSteps<Row, Lost>): Reconcile {
  const outcome = (row: Row, seen: Observation, isReached: boolean, retryMs = 0): Outcome => ({
    result:
      isReached && !isPending(seen)
        ? settledUntil(steps.changesAt?.(row))
        : { settled: false, retryMs, lastError: seen.lastError, deadlineSeconds: RECOVERY_DEADLINE_SECONDS },
    write: (tx) => steps.write(tx, row, nextStatus(row.status, isReached, steps.lost), seen, isReached),
  });
  const goneOutcome = (row: Row, seen: Observation): Outcome => ({
    result: { settled: false, retryMs: HOST_RETRY_MS, lastError: DATA_IS_GONE },
    write: (tx) => steps.write(tx, row, "unknown", { ...seen, lastError: DATA_IS_GONE }, false),
  });
  const failedOutcome = (row: Row, seen: Observation): Outcome => ({
    result: { settled: true },
    write: (tx) => steps.write(tx, row, "restore_failed", seen, false),
  });
  return async (id, signal) => {
    const row = await steps.load(db, id);
    if (row === null) return { result: "gone" };
    const { driver } = hosts.of(row.hostId);
    if (row.status === "deleting") return await remove(driver, steps, row, signal);
    // Its source stays as it is, so it cannot succeed later; only its owner can delete it.
    if (row.status === "restore_failed") return { result: { settled: true } };
    if (!isFirst(row.status)) {
      const seen = await driver.observe(id);
      // An empty instance in its place would hide that data is gone; a backup might still restore it.
      if (seen.state === "absent") return goneOutcome(row, seen);
      // Written before the repair, so that no answer calls an instance available that does not run.
      if (row.status === "available" && !isServed(seen)) return outcome(row, seen, false);
    }
    const seen = await ensureUnlessDeleted(driver, steps, { db, row, signal });
    if (seen === null) return againOutcome;
    await failpoint("reconcile.ensured");
    if (row.status === "restoring" && seen.restoreFailed === true) return failedOutcome(row, seen);
    if (!isServed(seen)) return outcome(row, seen, false, HOST_RETRY_MS);
    await steps.ensured?.(row, driver);
    const masked = row.status === "restoring" ? await steps.ensureMasked?.(row, seen, signal) : undefined;
    if (typeof masked === "object") return failedOutcome(row, { ...seen, lastError: masked.failure });
    if (masked === "done" || masked === "deleted") return againOutcome;
    if (!isLoginNeeded(row, seen)) return outcome(row, seen, true, HOST_RETRY_MS);
    await steps.ensureLogin(row, seen);
    await failpoint("reconcile.logged-in");
    return outcome(row, seen, true, HOST_RETRY_MS);
  };
}

/**
 * Has the host ensure the instance, which may take minutes for an engine that recovers or does not end, and for a
 * restore as long as its data is large.
 * @returns null when somebody has deleted the instance meanwhile.
 */
async function ensureUnlessDeleted<Row extends { id: string; status: string }, Lost extends string>(
  driver: Driver,
  steps: InstanceSteps<Row, Lost>,
  { db, row, signal }: { db: Database; row: Row; signal: AbortSignal },
): Promise<Observation | null> {
  const isDeleting = async () => (await steps.load(db, row.id))?.status === "deleting";
  const watch = watchObsolete(isDeleting, signal);
  try {
    return await driver.ensure(steps.specOf(row), AbortSignal.any([signal, watch.obsolete]));
  } catch (error) {
    if (watch.obsolete.aborted) return null;
    throw error;
  } finally {
    watch.end();
  }
}

function settledUntil(againAt: Date | undefined): Outcome["result"] {
  return { settled: true, ...(againAt && { againAt }) };
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
  if (isFirst(status)) return true;
  return seen.state === "running" && !(status === "available" && isPending(seen));
}

async function remove<Row extends { id: string }, Lost extends string>(
  driver: Driver,
  steps: InstanceSteps<Row, Lost>,
  row: Row,
  signal: AbortSignal,
): Promise<Outcome> {
  const { id } = row;
  await steps.beforeRemoval?.(row, driver, signal);
  await driver.remove(id, signal);
  await failpoint("reconcile.removed");
  return { result: "gone", write: (tx) => steps.erase(tx, id) };
}
