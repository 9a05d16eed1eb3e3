// Feeds all replicas of this machine, once a second.
import { primaryOf } from "../../contracts/instance-spec.ts";
import { messageOf } from "../../lib/errors.ts";
import type { Log } from "../../lib/log.ts";
import type { DataSource } from "./data-source.ts";
import type { KeeperClient } from "./keeper-client.ts";
import { ReplicaFeed } from "./replica-feed.ts";

/** The keeper ships the log as often. */
const INTERVAL_MS = 1_000;

interface ReplicaFeedsParts {
  keeper: KeeperClient;
  sources(): Iterable<DataSource>;
  log: Log;
}

export class ReplicaFeeds {
  readonly #parts: ReplicaFeedsParts;
  readonly #feeds = new Map<string, ReplicaFeed>();
  /** The replicas with a pass under way. */
  readonly #busy = new Set<string>();
  readonly #ending = new AbortController();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(parts: ReplicaFeedsParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer = setInterval(() => this.#passAll(), INTERVAL_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#ending.abort();
  }

  #passAll(): void {
    const known = new Set<string>();
    for (const source of this.#parts.sources()) {
      const { manifest, id } = source;
      const primary = manifest === null ? null : primaryOf(manifest.spec);
      if (primary === null) continue;
      known.add(id);
      if (!this.#busy.has(id)) void this.#pass(this.#feedOf(source, primary), id);
    }
    for (const id of this.#feeds.keys()) if (!known.has(id)) this.#feeds.delete(id);
  }

  async #pass(feed: ReplicaFeed, id: string): Promise<void> {
    this.#busy.add(id);
    try {
      await feed.pass();
    } catch (error) {
      this.#parts.log.debug({ error: messageOf(error), instance: id }, "a replica could not be fed");
    } finally {
      this.#busy.delete(id);
    }
  }

  #feedOf(source: DataSource, primary: string): ReplicaFeed {
    const { keeper, log } = this.#parts;
    const { signal } = this.#ending;
    const feed = this.#feeds.get(source.id) ?? new ReplicaFeed({ keeper, source, primary, log, signal });
    this.#feeds.set(source.id, feed);
    return feed;
  }
}
