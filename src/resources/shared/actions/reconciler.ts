// Carries actions out. A run after a kill repeats the action; a step that is done already returns at once.
import type { Driver } from "../../../drivers/driver.ts";
import { PublicError } from "../../../lib/errors.ts";
import { failpoint } from "../../../lib/failpoint.ts";
import type { Reconcile } from "../../../reconciler/loop.ts";
import type { KindContext } from "../../kind.ts";
import { deleteAction, endAction, findAction, markRunning, type Action, type Ending } from "./store.ts";

/** How long the row of an ended action is kept. */
const KEPT_MS = 24 * 60 * 60_000;

/** A host that restarts is back within this time; a host that is away for longer is reported as away. */
const HOST_AWAY_MS = 2_000;
const HOST_RETRY_MS = 50;

/** The reconciler of actions. */
export function reconcileAction({ db, hosts }: Pick<KindContext, "db" | "hosts">): Reconcile {
  return async (id, signal) => {
    const action = await findAction(db, id);
    if (action === undefined) return { result: "gone" };
    if (action.endedAt !== null) {
      const againAt = new Date(action.endedAt.getTime() + KEPT_MS);
      if (againAt.getTime() > Date.now()) return { result: { settled: true, againAt } };
      return { result: "gone", write: (tx) => deleteAction(tx, id) };
    }
    await markRunning(db, id);
    await failpoint("action.running");
    const ending = await carryOut(hosts.of(action.hostId), action, signal);
    await failpoint("action.carried-out");
    const againAt = new Date(Date.now() + KEPT_MS);
    return { result: { settled: true, againAt }, write: (tx) => endAction(tx, id, ending) };
  };
}

/** @throws when the run is aborted; the next run goes on. */
async function carryOut(
  { driver, observedStates }: ReturnType<KindContext["hosts"]["of"]>,
  { resourceId, deadlineAt }: Action,
  ended: AbortSignal,
): Promise<Ending> {
  const deadline = AbortSignal.timeout(Math.max(0, deadlineAt.getTime() - Date.now()));
  const awayAt = Date.now() + HOST_AWAY_MS;
  for (;;) {
    try {
      observedStates.noteAnswer(await driver.suspend(resourceId, AbortSignal.any([ended, deadline])));
      return { state: "done" };
    } catch (error) {
      if (ended.aborted) throw error;
      const isAway = await isUnreachable(driver, resourceId);
      if (deadline.aborted && !isAway) {
        return { state: "failed", failure: "late", error: "It could not be put to sleep in time." };
      }
      // An error that is not a PublicError goes to the log, and the action is tried again until its deadline.
      if (!(error instanceof PublicError)) throw error;
      const reason = error.message;
      if (!isAway) return { state: "failed", failure: "refused", error: reason };
      if (deadline.aborted || Date.now() > awayAt)
        return { state: "failed", failure: "unreachable", error: reason };
      await Bun.sleep(HOST_RETRY_MS);
    }
  }
}

/** An unreachable driver has refused nothing. */
async function isUnreachable(driver: Driver, id: string): Promise<boolean> {
  return await driver.observe(id).then(
    () => false,
    () => true,
  );
}
