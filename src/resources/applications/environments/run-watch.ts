// What a long run of an environment notices: that it is no longer wanted, and that settings of its route have changed.
import type { KindContext } from "../../kind.ts";
import { watchObsolete } from "../../shared/obsolescence-watch.ts";
import type { EnvironmentRoute } from "./route.ts";
import { loadEnvironment, type EnvironmentRow } from "./store.ts";

/** How soon a run notices it. */
const WATCH_MS = 500;

interface WatchedRun {
  environment: EnvironmentRow;
  route: EnvironmentRoute;
  signal: AbortSignal;
}

/** An order to stop or to delete ends the waiting for a process, and no setting of the edge waits for the run. */
export function watchRun(
  { db }: KindContext,
  { environment, route, signal }: WatchedRun,
): ReturnType<typeof watchObsolete> {
  const look = async () => {
    const now = await loadEnvironment(db, environment.id);
    if (now === undefined || isObsolete(now, environment)) return true;
    await route.follow(now);
    return false;
  };
  return watchObsolete(look, signal, WATCH_MS);
}

/** Whether an order to stop or to delete has come since a run began. */
export function isObsolete(now: EnvironmentRow | undefined, { status }: EnvironmentRow): boolean {
  return now === undefined || now.status === "deleting" || (now.status === "stopped" && status !== "stopped");
}
