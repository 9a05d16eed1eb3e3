// What is known of an archive while the driver does not answer about archives: at worst, nothing is stored any more.
import type { ArchiveState } from "../../../contracts/keeper.ts";
import { STORE_ID } from "../../../contracts/store-id.ts";
import type { ObservedStates } from "../../kind.ts";

/** A restart of the host or of the keeper takes some seconds, and answers come every few seconds. */
const SILENT_AFTER_MS = 15_000;

const AT_REST = new Set(["asleep", "stopped", "absent"]);

/** For the operator. */
const SILENT = "Nothing is known of the archives: the keeper of backups, or its host, does not answer.";

/** When the driver answered about archives, and the time now. */
interface Reception {
  receivedAtMs: number;
  nowMs: number;
}

/**
 * The state of an archive as it has to be taken now. An instance that was awake after the last answer may have changes
 * since then, so that its lag grows with the silence.
 */
export function takenAs(
  state: ArchiveState,
  observedStates: Pick<ObservedStates, "of">,
  { receivedAtMs, nowMs }: Reception,
): ArchiveState {
  const silentMs = nowMs - receivedAtMs;
  if (silentMs < SILENT_AFTER_MS) return state;
  const { id, log } = state;
  const lastError = state.lastError ?? SILENT;
  if (log === null || isAtRest(id, observedStates, receivedAtMs)) return { ...state, lastError };
  return { ...state, lastError, log: { ...log, lagSeconds: log.lagSeconds + silentMs / 1_000 } };
}

/** Whether nothing can have changed since the last answer: the instance slept already, or is deleted. */
function isAtRest(id: string, observedStates: Pick<ObservedStates, "of">, receivedAtMs: number): boolean {
  if (id === STORE_ID) return false;
  const seen = observedStates.of(id);
  if (seen === undefined) return true;
  return AT_REST.has(seen.state) && Date.parse(seen.since) <= receivedAtMs;
}
