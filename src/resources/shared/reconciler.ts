// Brings one instance to its wish: an engine that runs, reachable with the customer's own credentials, or nothing left.
import type { Driver, InstanceSpec, Observation } from "../../drivers/driver.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Outcome, Reconcile } from "../../reconciler/loop.ts";
import type { Database, Transaction } from "../../store/database.ts";
import type { KindContext } from "../kind.ts";
import { isServed, nextStatus, type CommonStatus } from "./status.ts";

/** How soon an engine that ended should be back, in seconds; recovery after a crash reads what was written last. */
const RECOVERY_DEADLINE_SECONDS = 120;

/** How long the host is left alone after it could not start an engine; it goes on trying by itself and tells when it did. */
const HOST_RETRY_MS = 5_000;

const DATA_IS_GONE =
  "The host has no data of it any more. Put its folder back from a backup and restart Pilvi, or delete it.";

/** What differs between the kinds. */
export interface InstanceSteps<Row, Lost extends string> {
  load(db: Database, id: string): Promise<Row | null>;
  specOf(row: Row): InstanceSpec;
  /** Logs in as the customer does, through the published address. @throws PublicError when that does not work. */
  ensureLogin(row: Row, seen: Observation): Promise<void>;
  /**
   * Writes the status and what was seen; `isReached` when all that the row wished for when it was loaded is there, but for the
   * databases that are still pending.
   */
  write(
    tx: Transaction,
    row: Row,
    status: CommonStatus<Lost>,
    seen: Observation,
    isReached: boolean,
  ): Promise<void>;
  /** Removes every row of the resource but its audit. */
  erase(tx: Transaction, id: string): Promise<void>;
  /** What the kind calls an instance that was available and is not at the moment. */
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
      // An empty one in its place would hide that data is gone, which a backup might still bring back.
      if (seen.state === "absent") return goneOutcome(row, seen);
      // Said before it is mended, so that nobody is told of an instance that is not there.
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

/** Whether a database waits for something, while the instance serves. */
function isPending({ pendingDatabases = [] }: Observation): boolean {
  return pendingDatabases.length > 0;
}

/**
 * A login would wake an instance that sleeps, and repeated ones would keep one awake that waits for a database. A login worked
 * before, unless the instance has never been available.
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
