// Renders the latest refresh of a clone, from its row and the latest observed state of its stage.
import type { ServedHost } from "../../kind.ts";
import type { DatabaseClusterRow } from "../store.ts";
import type { DatabaseRefreshState } from "./schema.ts";
import type { StoredRefresh } from "./store.ts";

const STATUSES = { building: "refreshing", swapping: "refreshing", done: "done", failed: "failed" } as const;

const NEVER = {
  status: "never",
  restore_time: null,
  started_at: null,
  ended_at: null,
  done_bytes: null,
  total_bytes: null,
  last_error: null,
} as const;

/** The member `refresh` of a cluster's `meta`; null for a cluster that cannot be refreshed. */
export function renderRefresh(
  { refresh, origin }: Pick<DatabaseClusterRow, "refresh" | "origin">,
  host: Pick<ServedHost, "observedStates">,
): DatabaseRefreshState {
  if (refresh === null) return origin?.clone === undefined ? null : NEVER;
  return renderLatest(refresh, host);
}

function renderLatest(
  { id, from, state, startedAt, endedAt, error }: StoredRefresh,
  { observedStates }: Pick<ServedHost, "observedStates">,
): DatabaseRefreshState {
  const progress = state === "building" ? observedStates.of(id)?.restoring : undefined;
  return {
    status: STATUSES[state],
    restore_time: "at" in from ? from.at : null,
    started_at: startedAt,
    ended_at: endedAt ?? null,
    done_bytes: progress?.doneBytes ?? null,
    total_bytes: progress?.totalBytes ?? null,
    last_error: error ?? null,
  };
}
