// Publishes the events of a request, and tells what was asked about their channels.
import { channelKindOf } from "../protocol/channel-name.ts";
import { emptyAnswer, jsonAnswer } from "./answer.ts";
import { type EventInput, readBatch, readEvent } from "./event-input.ts";
import { type Attributes, countsOf } from "./info.ts";
import type { HttpApplication } from "./target.ts";

/** How much is handed to sockets before they get a chance to send it. */
const MAX_BURST_BYTES = 1024 * 1024;
/** A shorter pause, or none but a turn of the event loop, leaves receivers no time to read. */
const PAUSE_MS = 1;

/** One event on its way to one channel. */
interface Delivery {
  channel: string;
  event: EventInput;
}

/**
 * Publishes the event of a body.
 * @throws {HttpError} when it is not in order.
 */
export function publishEvent(application: HttpApplication, body: string): Response | Promise<Response> {
  const event = readEvent(body);
  const pending = deliver(application, deliveriesOf(event));
  return pending === undefined
    ? channelsAnswer(application, event)
    : pending.then(() => channelsAnswer(application, event));
}

/**
 * Publishes the events of a batch in their order; either all of them or, when one is not in order, none.
 * @throws {HttpError} when one is not in order.
 */
export function publishBatch(application: HttpApplication, body: string): Response | Promise<Response> {
  const events = readBatch(body);
  const pending = deliver(application, events.flatMap(deliveriesOf));
  return pending === undefined
    ? batchAnswer(application, events)
    : pending.then(() => batchAnswer(application, events));
}

function deliveriesOf(event: EventInput): Delivery[] {
  return event.channels.map((channel) => ({ channel, event }));
}

/** Pauses after each burst: what is published at once could overrun even those who read fast. */
function deliver(application: HttpApplication, deliveries: Delivery[], from = 0): Promise<void> | undefined {
  let burstBytes = 0;
  for (let index = from; index < deliveries.length; index++) {
    const delivery = deliveries[index];
    if (delivery === undefined) break;
    if (burstBytes > MAX_BURST_BYTES)
      return Bun.sleep(PAUSE_MS).then(() => deliver(application, deliveries, index));
    const { channel, event } = delivery;
    application.publish(channel, event.name, event.data, event.socketId);
    burstBytes += event.data.length * (application.channel(channel)?.subscriptionCount ?? 0);
  }
  return undefined;
}

function channelsAnswer(application: HttpApplication, event: EventInput): Response {
  if (event.info.size === 0) return emptyAnswer();
  // Without a prototype, so that a channel named __proto__ is one like any other.
  const channels: Record<string, Attributes> = Object.create(null);
  for (const channel of event.channels) channels[channel] = attributesOf(application, event, channel);
  return jsonAnswer(JSON.stringify({ channels }));
}

function batchAnswer(application: HttpApplication, events: EventInput[]): Response {
  if (events.every((event) => event.info.size === 0)) return emptyAnswer();
  const batch = events.map((event) => attributesOf(application, event, event.channels[0] ?? ""));
  return jsonAnswer(JSON.stringify({ batch }));
}

function attributesOf(application: HttpApplication, { info }: EventInput, channel: string): Attributes {
  const kind = channelKindOf(channel);
  return kind === null ? {} : countsOf(application.channel(channel), kind, info);
}
