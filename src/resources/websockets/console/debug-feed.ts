// Follows an application while its debug page is open: the latest lines, and whether more will come.
import { useMemo, useSyncExternalStore } from "react";
import {
  PilviClient,
  PilviError,
  type WebsocketDebugEvent,
  type WebsocketWatchState,
} from "../../../sdk/index.ts";

/** A line of the page; the number is its own, since messages have no id. */
export interface DebugLine {
  number: number;
  event: WebsocketDebugEvent;
}

/** Whether lines come: as the API says, or why its stream is not there. */
export type FeedState = WebsocketWatchState | "connecting" | "offline";

/** What the page shows. */
interface Shown {
  /** The newest first. */
  lines: readonly DebugLine[];
  state: FeedState;
  /** Why Pilvi refuses to go on; null while it does not. */
  error: PilviError | null;
  /** Whether new lines wait until the page goes on. */
  isPaused: boolean;
  /** How many lines wait. */
  waiting: number;
}

/** The most lines that are kept. */
const MAX_LINES = 1_000;
const RETRY_MS = 2_000;

/** The lines of one application, followed while a page shows them. */
class DebugFeed {
  readonly #clusterId: string;
  readonly #id: string;
  readonly #listeners = new Set<() => void>();
  #shown: Shown = { lines: [], state: "connecting", error: null, isPaused: false, waiting: 0 };
  #waiting: DebugLine[] = [];
  #count = 0;
  #end = new AbortController();
  #isDrawing = false;

  constructor(clusterId: string, id: string) {
    this.#clusterId = clusterId;
    this.#id = id;
  }

  readonly shown = (): Shown => this.#shown;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) void this.#follow();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#end.abort();
    };
  };

  setPaused(isPaused: boolean): void {
    this.#change({ isPaused });
    this.#draw();
  }

  clear(): void {
    this.#waiting = [];
    this.#change({ lines: [], waiting: 0 });
  }

  /** Follows again after an error. */
  retry(): void {
    void this.#follow();
  }

  async #follow(): Promise<void> {
    this.#end.abort();
    this.#end = new AbortController();
    const { signal } = this.#end;
    this.#change({ error: null, state: "connecting" });
    const client = new PilviClient({ url: location.origin, fetch: (...request) => this.#fetch(...request) });
    const applications = client.websockets.applications(this.#clusterId);
    while (!signal.aborted) {
      try {
        for await (const event of applications.debug(this.#id, { signal })) this.#take(event);
      } catch (error) {
        if (error instanceof PilviError) return this.#change({ error });
      }
      if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  /** The client connects again by itself; only its requests show when it cannot. */
  async #fetch(url: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(url, init);
    } catch (error) {
      if (init.signal?.aborted !== true) this.#change({ state: "offline" });
      throw error;
    }
  }

  #take(event: WebsocketDebugEvent): void {
    if (event.type === "state") this.#change({ state: event.state });
    this.#waiting.push({ number: (this.#count += 1), event });
    if (this.#waiting.length > MAX_LINES) this.#waiting.shift();
    // A burst is drawn once.
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      this.#draw();
    });
  }

  #draw(): void {
    if (this.#shown.isPaused) return this.#change({ waiting: this.#waiting.length });
    const latest = this.#waiting.splice(0).toReversed();
    this.#change({ lines: [...latest, ...this.#shown.lines].slice(0, MAX_LINES), waiting: 0 });
  }

  #change(change: Partial<Shown>): void {
    this.#shown = { ...this.#shown, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** Follows an application while the component is shown. */
export function useDebugFeed(clusterId: string, id: string): Shown & { feed: DebugFeed } {
  const feed = useMemo(() => new DebugFeed(clusterId, id), [clusterId, id]);
  const shown = useSyncExternalStore(feed.subscribe, feed.shown);
  return { ...shown, feed };
}
