// How a message about a watched application looks: a line for people, or a line for programs.
import type { WebsocketDebugEvent } from "../../sdk/index.ts";
import { timeOf, visibleLine } from "./lines.ts";

/** Time, type and facts in one line. */
export function debugLine(event: WebsocketDebugEvent): string {
  const parts = [timeOf(new Date(event.at)), event.type, ...factsOf(event)];
  return visibleLine(parts.filter((part) => part !== ""));
}

/** The message as the API sends it. */
export function debugJsonLine(event: WebsocketDebugEvent): string {
  return `${JSON.stringify(event)}\n`;
}

function factsOf(event: WebsocketDebugEvent): string[] {
  switch (event.type) {
    case "state":
      return [event.state];
    case "omitted":
      return [`${event.count} more`];
    case "connected":
      return [event.socket_id, event.origin ?? ""];
    case "disconnected":
      return [event.socket_id];
    case "subscribed":
    case "unsubscribed":
      return [event.channel, event.socket_id, subscribers(event.subscriptions)];
    case "channel_occupied":
    case "channel_vacated":
      return [event.channel];
    case "member_added":
    case "member_removed":
      return [event.channel, event.user_id];
    case "client_event":
      return [event.channel, event.event, dataOf(event), `(from ${event.user_id ?? event.socket_id})`];
    case "published":
      return [event.channel, event.event, dataOf(event), subscribers(event.subscriptions)];
    case "refused":
      return [event.channel ?? "", event.socket_id ?? "", event.reason, codeOf(event.code)];
    case "webhook_sent":
    case "webhook_dropped":
      return [event.host, eventsOf(event.events)];
    case "webhook_failed":
      return [event.host, eventsOf(event.events), event.reason];
  }
}

function subscribers(count: number): string {
  return `(${count} ${count === 1 ? "subscriber" : "subscribers"})`;
}

function eventsOf(count: number): string {
  return `${count} ${count === 1 ? "event" : "events"}`;
}

function codeOf(code: number | null): string {
  return code === null ? "" : `(code ${code})`;
}

/** The data, with its whole size where only its beginning is there. */
function dataOf({ data, data_bytes: bytes }: { data: string; data_bytes: number }): string {
  return Buffer.byteLength(data) === bytes ? data : `${data}… (${bytes} bytes)`;
}
