// What happened in an application, in words for a line, and the groups that the page can show alone.
import type { WebsocketDebugEvent } from "../../../sdk/index.ts";

type Type = WebsocketDebugEvent["type"];

/** The groups of types, by the name in the address. */
export const groups = {
  connections: { label: "Connections", types: ["connected", "disconnected", "refused"] },
  channels: {
    label: "Channels",
    types: ["subscribed", "unsubscribed", "channel_occupied", "channel_vacated", "refused"],
  },
  members: { label: "Members", types: ["member_added", "member_removed"] },
  events: { label: "Events", types: ["published", "client_event"] },
  webhooks: { label: "Webhooks", types: ["webhook_sent", "webhook_failed", "webhook_dropped"] },
  refusals: { label: "Refusals", types: ["refused", "webhook_failed", "webhook_dropped"] },
} as const satisfies Record<string, { label: string; types: readonly Type[] }>;

export type Group = keyof typeof groups;

/** Whether a line belongs to a group; what is left out, and the state, matter in each. */
export function isIn(group: Group | undefined, { type }: WebsocketDebugEvent): boolean {
  if (group === undefined || type === "state" || type === "omitted") return true;
  return (groups[group].types as readonly Type[]).includes(type);
}

const TITLES: Record<Type, string> = {
  state: "State",
  omitted: "Left out",
  connected: "Connected",
  disconnected: "Disconnected",
  subscribed: "Subscribed",
  unsubscribed: "Unsubscribed",
  channel_occupied: "Occupied",
  channel_vacated: "Vacated",
  member_added: "Member added",
  member_removed: "Member removed",
  client_event: "Client event",
  published: "Published",
  refused: "Refused",
  webhook_sent: "Webhook sent",
  webhook_failed: "Webhook failed",
  webhook_dropped: "Webhook dropped",
};

export function titleOf({ type }: WebsocketDebugEvent): string {
  return TITLES[type];
}

/** The channel, for events of one. */
export function channelOf(event: WebsocketDebugEvent): string {
  return "channel" in event ? (event.channel ?? "") : "";
}

/** The facts beside the channel, in one line. */
export function factsOf(event: WebsocketDebugEvent): string {
  switch (event.type) {
    case "state":
      return event.state;
    case "omitted":
      return `${event.count} more happened than are shown`;
    case "connected":
      return joined(event.socket_id, event.origin);
    case "disconnected":
      return event.socket_id;
    case "subscribed":
    case "unsubscribed":
      return joined(counted(event.subscriptions, "subscriber"), event.socket_id);
    case "channel_occupied":
    case "channel_vacated":
      return "";
    case "member_added":
    case "member_removed":
      return event.user_id;
    case "client_event":
      return joined(event.event, event.data);
    case "published":
      return joined(event.event, counted(event.subscriptions, "subscriber"), event.data);
    case "refused":
      return joined(event.reason, event.socket_id);
    case "webhook_sent":
    case "webhook_dropped":
      return joined(event.host, counted(event.events, "event"));
    case "webhook_failed":
      return joined(event.host, event.reason, counted(event.events, "event"));
  }
}

function joined(...parts: (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== "").join(" · ");
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
