// The undelivered batches of one webhook: sent in order, tried again after a failure, and not kept for ever.
import { backoffMs } from "../../lib/backoff.ts";
import type { Log } from "../../lib/line-log.ts";
import type { DebugTap } from "../debug/tap.ts";
import type { Batch, Waiting, WebhookCounters } from "./batch.ts";
import type { Clock } from "./clock.ts";
import type { Credentials, Outcome, Sender } from "./sender.ts";
import type { Places } from "../../lib/places.ts";
import type { Spool } from "./spool.ts";

/** Counted from the beginning of the first failed attempt. */
const GIVE_UP_AFTER_MS = 5 * 60_000;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;
const MAX_BATCHES = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;
/** What a batch takes beside its body, roughly. */
const OVERHEAD_BYTES = 512;

/** The parts that the queues of an application share. */
export interface Delivery {
  sender: Sender;
  places: Places;
  spool: Spool;
  counters: WebhookCounters;
  /** Shared by all applications of the process. */
  waiting: Waiting;
  credentials: () => Credentials;
  /** Null while nobody watches the application. */
  debug: () => DebugTap | null;
  clock: Clock;
  log: Log;
}

/**
 * Sends one request at a time, so events arrive in order; while the first batch is tried again, the others wait behind
 * it. When the webhook cannot be reached, that counts as an attempt of all waiting batches, so a dead webhook does not
 * take minutes for each batch. When it answers with an error, the fault may lie in that one batch, so the others get an
 * attempt of their own before they are given up.
 */
export class DeliveryQueue {
  readonly #url: string;
  /** Paths and queries of a webhook's URL often hold secrets, so reports and logs have its host alone. */
  readonly #host: string;
  readonly #with: Delivery;
  readonly #batches: Batch[] = [];
  readonly #abort = new AbortController();
  #bytes = 0;
  /** Attempts that failed since the last success. */
  #failures = 0;
  /** The message that was logged last, so that it is not repeated. */
  #said = "";
  #inFlight = false;
  #closing = false;
  #running: Promise<void> | null = null;
  #endPause: (() => void) | null = null;

  constructor(url: string, delivery: Delivery) {
    this.#url = url;
    this.#host = URL.parse(url)?.host ?? "";
    this.#with = delivery;
  }

  /** Adds a batch; the oldest batch is dropped when too many wait. */
  add(batch: Batch): void {
    this.#batches.push(batch);
    this.#bytes += batch.bytes;
    this.#with.waiting.bytes += batch.bytes + OVERHEAD_BYTES;
    this.#dropOverflow();
    this.#running ??= this.#run();
  }

  /**
   * Delivers the batches that succeed at the first attempt; the others stay in the spool. Resolves when nothing is in
   * flight.
   */
  async close(): Promise<void> {
    this.#closing = true;
    this.#endPause?.();
    await this.#running;
  }

  /** Ends an attempt that is under way, so that `close` does not wait any longer. */
  stop(): void {
    this.#abort.abort();
    this.#endPause?.();
  }

  /** Drops everything, without counting it: the webhook was removed. */
  discard(): void {
    this.stop();
    for (const batch of this.#batches.splice(0)) this.#forget(batch);
  }

  async #run(): Promise<void> {
    const { places } = this.#with;
    while (this.#batches.length > 0 && !this.#ended()) {
      const retryMs = await places.run(() => this.#attempt());
      if (retryMs > 0 && !this.#ended()) await this.#pause(retryMs);
    }
    this.#running = null;
  }

  /** Whether nothing more is tried in this process; new batches then only go into the spool. */
  #ended(): boolean {
    return this.#abort.signal.aborted || (this.#closing && this.#failures > 0);
  }

  /** @returns how long to wait before the next attempt, in milliseconds. */
  async #attempt(): Promise<number> {
    const { clock, sender, credentials } = this.#with;
    const [batch] = this.#batches;
    if (batch === undefined || this.#ended()) return 0;
    const startedMs = clock.wallMs();
    this.#inFlight = true;
    const outcome = await sender.send(this.#url, batch.body, credentials(), this.#abort.signal);
    this.#inFlight = false;
    if (outcome.kind === "failed") return this.#abort.signal.aborted ? 0 : this.#failed(outcome, startedMs);
    if (outcome.kind === "delivered") this.#delivered(batch);
    else this.#refused(batch, outcome.reason);
    return 0;
  }

  #delivered(batch: Batch): void {
    if (this.#failures > 0) this.#say("A webhook works again.", {});
    this.#failures = 0;
    this.#said = "";
    this.#with.counters.delivered += 1;
    this.#with.debug()?.webhookSent(this.#host, batch.events);
    this.#remove(batch);
  }

  #refused(batch: Batch, reason: string): void {
    this.#say("A webhook is refused, and its events are dropped.", { reason });
    this.#drop(batch);
  }

  #failed({ reason, answered }: Outcome & { kind: "failed" }, startedMs: number): number {
    this.#with.counters.failed += 1;
    this.#failures += 1;
    this.#say("A webhook failed, and is tried again.", { reason });
    const [first] = this.#batches;
    this.#with.debug()?.webhookFailed(this.#host, first?.events ?? 0, reason);
    for (const batch of answered ? this.#batches.slice(0, 1) : this.#batches) {
      if (batch.failingSinceMs === null) this.#with.spool.failing(batch, startedMs);
    }
    const retryMs = backoffMs(this.#failures, FIRST_RETRY_MS, MAX_RETRY_MS);
    const retryAtMs = this.#with.clock.wallMs() + retryMs;
    const expired = (batch: Batch) => retryAtMs - (batch.failingSinceMs ?? retryAtMs) > GIVE_UP_AFTER_MS;
    const given = this.#batches.filter((batch) => (batch === first || !answered) && expired(batch));
    if (given.length === 0) return retryMs;
    this.#say("Events of a webhook are dropped, since it failed for too long.", { batches: given.length });
    for (const batch of given) this.#drop(batch);
    if (!answered) return retryMs;
    this.#failures = 1;
    return backoffMs(1, FIRST_RETRY_MS, MAX_RETRY_MS);
  }

  #dropOverflow(): void {
    const { waiting } = this.#with;
    const isTooMuch = () => this.#bytes > MAX_BYTES || waiting.bytes > waiting.maxBytes;
    while (this.#batches.length > MAX_BATCHES || isTooMuch()) {
      // The batch in flight is out of reach, and may well arrive.
      const oldest = this.#batches[this.#inFlight ? 1 : 0];
      if (oldest === undefined || oldest === this.#batches.at(-1)) return;
      this.#say("The oldest events of a webhook are dropped, since too many wait.", {});
      this.#drop(oldest);
    }
  }

  #drop(batch: Batch): void {
    this.#with.counters.dropped += 1;
    this.#with.debug()?.webhookDropped(this.#host, batch.events);
    this.#remove(batch);
  }

  #remove(batch: Batch): void {
    const index = this.#batches.indexOf(batch);
    if (index === -1) return;
    this.#batches.splice(index, 1);
    this.#forget(batch);
  }

  #forget(batch: Batch): void {
    this.#bytes -= batch.bytes;
    this.#with.waiting.bytes -= batch.bytes + OVERHEAD_BYTES;
    this.#with.spool.remove(batch);
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#with.clock.after(ms, resolve);
      this.#endPause = () => {
        cancel();
        resolve();
      };
    });
    this.#endPause = null;
  }

  #say(message: string, details: { reason?: string; batches?: number }): void {
    if (this.#said === message) return;
    this.#said = message;
    this.#with.log.warn({ host: this.#host, ...details }, message);
  }
}
