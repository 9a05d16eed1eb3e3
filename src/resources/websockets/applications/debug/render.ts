// Renders what was observed in an application, in the words of the API.
import type { DebugEvent } from "../../../../contracts/realtime-debug.ts";
import type { WatchState, WebsocketDebugEvent } from "./schema.ts";

/** A report of the realtime server, or a change of whether there are any. */
export type Observed =
  | Exclude<DebugEvent, { type: "watching" }>
  | { type: "state"; at: string; state: WatchState };

const NAMES = {
  channelOccupied: "channel_occupied",
  channelVacated: "channel_vacated",
  memberAdded: "member_added",
  memberRemoved: "member_removed",
  webhookSent: "webhook_sent",
  webhookDropped: "webhook_dropped",
} as const;

/** The message of the stream. */
export function renderObserved(observed: Observed): WebsocketDebugEvent {
  const { at } = observed;
  switch (observed.type) {
    case "state":
    case "omitted":
      return observed;
    case "connected":
      return { type: "connected", at, socket_id: observed.socketId, origin: observed.origin };
    case "disconnected": {
      const { subscriptions } = observed;
      return { type: "disconnected", at, socket_id: observed.socketId, subscriptions };
    }
    case "subscribed": {
      const { socketId, channel, userId, subscriptions } = observed;
      return { type: "subscribed", at, socket_id: socketId, channel, user_id: userId, subscriptions };
    }
    case "unsubscribed": {
      const { socketId, channel, subscriptions } = observed;
      return { type: "unsubscribed", at, socket_id: socketId, channel, subscriptions };
    }
    case "channelOccupied":
    case "channelVacated":
      return { type: NAMES[observed.type], at, channel: observed.channel };
    case "memberAdded":
    case "memberRemoved":
      return { type: NAMES[observed.type], at, channel: observed.channel, user_id: observed.userId };
    case "clientEvent": {
      const { socketId, channel, userId } = observed;
      const place = { socket_id: socketId, channel, user_id: userId };
      return { type: "client_event", at, ...place, ...payloadOf(observed) };
    }
    case "published": {
      const { channel, subscriptions } = observed;
      return { type: "published", at, channel, subscriptions, ...payloadOf(observed) };
    }
    case "refused": {
      const { socketId, channel, code, reason } = observed;
      return { type: "refused", at, socket_id: socketId, channel, code, reason };
    }
    case "webhookSent":
    case "webhookDropped":
      return { type: NAMES[observed.type], at, host: observed.host, events: observed.events };
    case "webhookFailed": {
      const { host, events, reason } = observed;
      return { type: "webhook_failed", at, host, events, reason };
    }
  }
}

function payloadOf({ event, data, dataBytes }: { event: string; data: string; dataBytes: number }) {
  return { event, data, data_bytes: dataBytes };
}
