// The sentence with which an instance refuses a demand.
import type { RefusalReason } from "../lifecycle/lifecycle.ts";
import type { State } from "../lifecycle/state.ts";

/** A sentence that may be shown to anyone. */
export function refusalSentence(id: string, state: State, reason: RefusalReason): string {
  switch (reason) {
    case "unusable":
      return state.name === "unusable" ? state.reason : `${id} cannot be used.`;
    case "beingRemoved":
      return `${id} is being removed.`;
    case "beingStopped":
      return `${id} is being stopped.`;
    case "notRunning":
      return `${id} does not run.`;
  }
}
