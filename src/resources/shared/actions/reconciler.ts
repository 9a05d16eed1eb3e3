// Carries actions out. A run after a kill repeats the action; a step that is done already returns at once.
import type { Observation } from "../../../contracts/observation.ts";
import type { Driver } from "../../../drivers/driver.ts";
import { isFault, PublicError } from "../../../lib/errors.ts";
import { failpoint } from "../../../lib/failpoint.ts";
import type { Reconcile } from "../../../reconciler/loop.ts";
import type { KindContext } from "../../kind.ts";
import { deleteAction, endAction, findAction, markRunning, type Action, type Ending } from "./store.ts";

/** How long the row of an ended action is kept. */
const KEPT_MS = 24 * 60 * 60_000;

/** A host that restarts is back within this time; a host that is away for longer is reported as away. */
const HOST_AWAY_MS = 2_000;
const HOST_RETRY_MS = 50;

/** Why an instance is not asleep at the deadline of its action. */
const GOES_ON = "It was not asleep in time. Its host goes on with it, so it may still fall asleep.";
const NOT_ORDERED = "It could not be put to sleep in time.";

type Host = ReturnType<KindContext["hosts"]["of"]>;

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
  host: Host,
  { resourceId, deadlineAt, state }: Action,
  ended: AbortSignal,
): Promise<Ending> {
  const { driver, observedStates } = host;
  const deadline = AbortSignal.timeout(Math.max(0, deadlineAt.getTime() - Date.now()));
  const awayAt = Date.now() + HOST_AWAY_MS;
  // A run before may have given the order.
  for (let isOrdered = state === "running"; ; isOrdered = true) {
    // Nobody expects an order any more that is given after the deadline.
    if (Date.now() >= deadlineAt.getTime()) return await endLate(host, resourceId, isOrdered);
    try {
      observedStates.noteAnswer(await driver.suspend(resourceId, AbortSignal.any([ended, deadline])));
      return { state: "done" };
    } catch (error) {
      if (ended.aborted) throw error;
      const isAway = (await observed(driver, resourceId)) === null;
      if (deadline.aborted && !isAway && !isFault(error)) return await endLate(host, resourceId, true);
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

/** The end of an action at its deadline. The end of a question takes no order back from the host that has it. */
async function endLate(
  { driver, observedStates }: Host,
  resourceId: string,
  isOrdered: boolean,
): Promise<Ending> {
  const seen = await observed(driver, resourceId);
  if (seen === null) return { state: "failed", failure: "unreachable", error: "Its host does not answer." };
  if (seen.state !== "asleep")
    return { state: "failed", failure: "late", error: isOrdered ? GOES_ON : NOT_ORDERED };
  observedStates.noteAnswer(seen);
  return { state: "done" };
}

/** What the driver sees of an instance; null where it cannot be reached, so that it has refused nothing. */
async function observed(driver: Driver, id: string): Promise<Observation | null> {
  return await driver.observe(id).catch(() => null);
}
