// Remembers the observed state that the driver's watch reported last of each instance.
import type { Observation } from "../../contracts/observation.ts";
import type { ObservedStates } from "../kind.ts";

/** The instances of one driver, as it observed them last. */
export class WatchedStates implements ObservedStates {
  readonly #seen = new Map<string, Observation>();

  of(id: string): Observation | undefined {
    return this.#seen.get(id);
  }

  all(): Iterable<Observation> {
    return this.#seen.values();
  }

  /** Takes in a report of the watch; reports come in order. */
  note(seen: Observation): void {
    if (seen.state === "absent") this.#seen.delete(seen.id);
    else this.#seen.set(seen.id, seen);
  }

  noteAnswer(seen: Observation): void {
    const known = this.#seen.get(seen.id);
    // The answer does not come by the watch, which may have reported a later state by now.
    if (known === undefined || known.since <= seen.since) this.note(seen);
  }

  /** Forgets all instances but these. */
  keepOnly(ids: string[]): void {
    const kept = new Set(ids);
    for (const id of this.#seen.keys()) if (!kept.has(id)) this.#seen.delete(id);
  }
}
