// Follows the instances of a host: remembers each observed state, and requeues the resources that differ from it.
import type { Observation } from "../../contracts/observation.ts";
import type { Driver } from "../../drivers/driver.ts";
import type { Log } from "../../lib/log.ts";
import { requeue, requeueMissing, type Convergence } from "../../reconciler/queue.ts";
import { RequeueBatches } from "../../reconciler/requeue-batches.ts";
import type { WatchedStates } from "../../resources/shared/observed-states.ts";
import { isServed } from "../../resources/shared/status.ts";
import type { Database } from "../../store/database.ts";
import { STORE_ID } from "./store-instance.ts";

/** A host as far as the watch needs it. */
export interface WatchedHost {
  id: string;
  driver: Pick<Driver, "watch">;
  observedStates: WatchedStates;
}

/**
 * Remembers each observed state, and requeues at once a resource whose row does not fit it.
 * @returns a promise that resolves when every instance of the host was observed once.
 */
export function watchInstances(
  { db, host: { id, driver, observedStates } }: { db: Database; host: WatchedHost },
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  const complain = (error: unknown) => log.warn({ error }, "an observation could not be passed on");
  const batches = new RequeueBatches((batch) => requeue(db, batch), complain);
  const first = Promise.withResolvers<void>();
  driver.watch(
    {
      changed: (seen) => {
        if (seen.id === STORE_ID) return;
        observedStates.note(seen);
        batches.add({ instanceId: seen.id, convergence: convergenceOf(seen) });
      },
      synced: (ids) => {
        observedStates.keepOnly(ids);
        first.resolve();
        requeueMissing(db, id, ids).catch(complain);
      },
    },
    signal,
  );
  return first.promise;
}

/**
 * An engine that ended at least once ran before, so it is broken; an engine that never ended is being started for the
 * first time. An instance that sleeps or wakes is as desired.
 */
function convergenceOf(seen: Observation): Convergence {
  if (isServed(seen)) return "as-desired";
  return seen.crashes > 0 ? "broken" : "converging";
}
