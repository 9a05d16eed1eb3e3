// Follows one application for all its watchers, over ends of its server, its host and the connection to them.
import type { ServedHost } from "../../../kind.ts";
import type { Observed } from "./render.ts";
import type { WatchState } from "./schema.ts";
import type { Watcher } from "./watcher.ts";

/** How soon a state is looked at again while nothing is reported. */
const RETRY_MS = 250;

/** The application, and the host of its cluster. */
export interface FollowedApplication {
  id: string;
  clusterId: string;
  host: Pick<ServedHost, "driver" | "observedStates">;
}

export class Feed {
  readonly watchers = new Set<Watcher>();
  readonly #application: FollowedApplication;
  readonly #ending = new AbortController();
  /** Null until it is known. */
  #state: WatchState | null = null;

  constructor(application: FollowedApplication) {
    this.#application = application;
    void this.#run(this.#ending.signal);
  }

  /** Adds a watcher, which first gets the state, at once or as soon as it is known. */
  add(watcher: Watcher): void {
    this.watchers.add(watcher);
    if (this.#state !== null) watcher.add(announcementOf(this.#state));
  }

  end(): void {
    this.#ending.abort();
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const state = stateOf(this.#application);
      if (state === "running") await this.#follow(signal);
      else this.#become(state);
      if (!signal.aborted) await Bun.sleep(RETRY_MS);
    }
  }

  /** Passes reports on until the server ends them. Never rejects. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { id, clusterId, host } = this.#application;
    try {
      for await (const event of host.driver.debug(clusterId, id, signal)) {
        if (event.type === "watching") this.#become("running");
        else this.#pass(event);
      }
    } catch {
      // The host or the server is away, or the application is not in force yet; the state says so.
    }
    if (signal.aborted) return;
    const state = stateOf(this.#application);
    this.#become(state === "running" ? "unavailable" : state);
  }

  #become(state: WatchState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#pass(announcementOf(state));
  }

  #pass(observed: Observed): void {
    for (const watcher of this.watchers) watcher.add(observed);
  }
}

function announcementOf(state: WatchState): Observed {
  return { type: "state", at: new Date().toISOString(), state };
}

/** The state of the application's cluster, as its host observed it last; asking wakes nothing. */
export function stateOf({ clusterId, host }: FollowedApplication): WatchState {
  switch (host.observedStates.of(clusterId)?.state) {
    case "running":
    case "draining":
      return "running";
    case "asleep":
      return "asleep";
    case "starting":
      return "starting";
    case undefined:
    case "absent":
    case "failed":
    case "stopped":
    case "removing":
      return "unavailable";
  }
}
