// Follows the instances of a host: remembers each observed state, and requeues the resources that differ from it.
import type { Observation } from "../../contracts/observation.ts";
import { STORE_ID } from "../../contracts/store-id.ts";
import type { Driver, WatchEvents } from "../../drivers/driver.ts";
import type { Log } from "../../lib/log.ts";
import { requeue, requeueMissing, type Convergence } from "../../reconciler/queue.ts";
import { RequeueBatches } from "../../reconciler/requeue-batches.ts";
import type { WatchedStates } from "../../resources/shared/observed-states.ts";
import { isServed } from "../../resources/shared/status.ts";
import type { Database } from "../../store/database.ts";

/** How soon the watch begins anew after an observation that could not be passed on. */
const RESTART_MS = 5_000;

/** A host as far as the watch needs it. */
interface WatchedHost {
  id: string;
  driver: Pick<Driver, "watch">;
  observedStates: WatchedStates;
}

/** What a watch works with. */
interface InstanceWatch {
  db: Database;
  host: WatchedHost;
  /** For tests. */
  restartMs?: number;
}

/**
 * Remembers each observed state, and requeues at once a resource whose row does not fit it.
 * @returns a promise that resolves when every instance of the host was observed once.
 */
export function watchInstances(watch: InstanceWatch, signal: AbortSignal, log: Log): Promise<void> {
  const { db, host, restartMs = RESTART_MS } = watch;
  const first = Promise.withResolvers<void>();
  let present = new AbortController();
  let restart: ReturnType<typeof setTimeout> | undefined;
  // A driver does not repeat what it has reported, so a lost observation needs all of them again.
  const beginAnew = () => {
    restart = undefined;
    present.abort();
    present = new AbortController();
    if (!signal.aborted) host.driver.watch(events, AbortSignal.any([signal, present.signal]));
  };
  const complain = (error: unknown) => {
    log.warn({ error }, "an observation could not be passed on");
    restart ??= setTimeout(beginAnew, restartMs);
  };
  const batches = new RequeueBatches((batch) => requeue(db, batch), complain);
  const events: WatchEvents = {
    changed: (seen) => {
      if (seen.id === STORE_ID) return;
      host.observedStates.note(seen);
      batches.add({ instanceId: seen.id, convergence: convergenceOf(seen) });
    },
    synced: (ids) => {
      host.observedStates.keepOnly(ids);
      first.resolve();
      requeueMissing(db, host.id, ids).catch(complain);
    },
  };
  signal.addEventListener("abort", () => clearTimeout(restart));
  beginAnew();
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
