// One webhook of an application: the events that it wants, and the events of its present batch.
import type { Webhook as WebhookConfig, WebhookEventType } from "../../contracts/websocket-application.ts";
import type { Batch } from "./batch.ts";
import { DeliveryQueue, type Delivery } from "./queue.ts";

const MAX_BATCH_EVENTS = 100;
const MAX_BATCH_BYTES = 256 * 1024;

export class Webhook {
  /**
   * The same over restarts, so that a spooled batch finds its webhook: the URL, and a number where the URL occurs
   * twice.
   */
  readonly key: string;
  readonly queue: DeliveryQueue;
  readonly #delivery: Delivery;
  #config: WebhookConfig;
  #events: string[] = [];
  #bytes = 0;

  constructor(key: string, config: WebhookConfig, delivery: Delivery) {
    this.key = key;
    this.queue = new DeliveryQueue(config.url, delivery);
    this.#delivery = delivery;
    this.#config = config;
  }

  /** Applies to later events; the URL stays the same. */
  configure(config: WebhookConfig): void {
    this.#config = config;
  }

  wants(type: WebhookEventType, channel: string): boolean {
    const { eventTypes, filter } = this.#config;
    return (
      eventTypes.includes(type) &&
      channel.startsWith(filter?.channelNameStartsWith ?? "") &&
      channel.endsWith(filter?.channelNameEndsWith ?? "")
    );
  }

  /** @param event as JSON. */
  take(event: string): void {
    const bytes = Buffer.byteLength(event);
    if (this.#bytes + bytes > MAX_BATCH_BYTES) this.flush();
    this.#events.push(event);
    this.#bytes += bytes;
    if (!this.#config.isBatched || this.#events.length >= MAX_BATCH_EVENTS) this.flush();
  }

  /** Ends the present batch and hands it over for delivery. */
  flush(): void {
    const events = this.#events;
    if (events.length === 0) return;
    this.#events = [];
    this.#bytes = 0;
    const body = `{"time_ms":${this.#delivery.clock.wallMs()},"events":[${events.join(",")}]}`;
    this.queue.add(this.#delivery.spool.add(this.key, body, events.length));
  }

  /** Takes over a batch that an earlier process did not deliver. */
  resume(batch: Batch): void {
    this.queue.add(batch);
  }

  /** Drops everything that was not sent. */
  discard(): void {
    this.#events = [];
    this.queue.discard();
  }
}
