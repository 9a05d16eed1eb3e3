// The events that the parts of an instance report, and the state after each, with its details.
import type { Moment } from "./back-off.ts";
import { isApplied, wakeOf, type Happening, type State, type StateName } from "./state.ts";

/** An event of the instance or its engine, with the details that the lifecycle needs. */
export type Report =
  | { type: "served"; isApplied: boolean }
  | { type: "woken"; isOwn: boolean }
  | { type: "foundUnusable"; reason: string }
  | { type: Exclude<Happening, "served" | "woken" | "foundUnusable"> };

/** The state by this name, which a report has led to. */
export function stateAfter(former: State, name: StateName, event: Report, now: Moment): State {
  const begunWake = event.type === "woken" ? { at: now.date, isOwn: event.isOwn } : wakeOf(former);
  switch (name) {
    case "running":
      if (event.type === "served") return { name, wake: null, isApplied: event.isApplied };
      return { name, wake: begunWake, isApplied: event.type !== "recorded" && isApplied(former) };
    case "draining":
    case "suspending":
    case "handingOver":
      return { name, isApplied: isApplied(former) };
    case "recovering":
    case "waking":
    case "starting":
    case "crashed":
    case "failed":
      return { name, wake: begunWake };
    case "unusable":
      return event.type === "foundUnusable" ? { name, reason: event.reason } : former;
    default:
      return { name };
  }
}
