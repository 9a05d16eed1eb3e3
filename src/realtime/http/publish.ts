// Publishes the events of a request, and returns the wanted attributes of their channels.
import { channelKindOf } from "../protocol/channel-name.ts";
import { emptyAnswer, jsonAnswer } from "./answer.ts";
import { type EventInput, readBatch, readEvent } from "./event-input.ts";
import { type Attributes, countsOf } from "./info.ts";
import type { HttpApplication } from "./target.ts";

/** How many bytes are handed to sockets before they get a chance to send. */
const MAX_BURST_BYTES = 1024 * 1024;
/** A shorter pause, or a mere turn of the event loop, leaves receivers no time to read. */
const PAUSE_MS = 1;

/** An event on its way to a channel. */
interface Delivery {
  channel: string;
  event: EventInput;
}

/**
 * Publishes the event of a body.
 * @throws HttpError when the event is not valid.
 */
export function publishEvent(application: HttpApplication, body: string): Response | Promise<Response> {
  const event = readEvent(body);
  const pending = deliver(application, deliveriesOf(event));
  return pending === undefined
    ? channelsAnswer(application, event)
    : pending.then(() => channelsAnswer(application, event));
}

/**
 * Publishes the events of a batch in their order, or no event when one is not valid.
 * @throws HttpError when an event is not valid.
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

/** Pauses after each burst: too much at once could overrun even receivers that read fast. */
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
  // Without a prototype, so that a channel may be named __proto__.
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
