// For tests of the commands about WebSocket clusters: documents of the API, and a cluster that follows a script.
import type { WebsocketApplicationResource, WebsocketServerResource } from "../../sdk/index.ts";
import { list, one, serve } from "../test-server.ts";

export const id = "ws-0199f0a2-6c3e-7d5b-9a41-000000000001";
export const path = `/websocket-servers/${id}`;
/** The credentials of the examples in the protocol's documentation. */
export const credentials = { key: "278d425bdf160c739803", secret: "7ad3773142a6692b25b8" };

/** A cluster as the API shows it. */
export function cluster(
  attributes: Partial<WebsocketServerResource["attributes"]> = {},
  port = 20_002,
): WebsocketServerResource {
  return {
    id,
    type: "websocketServers",
    attributes: {
      name: "chat",
      type: "builtin",
      region: "us-east-1",
      status: "available",
      max_connections: 100,
      connection_distribution_strategy: "evenly",
      hostname: "127.0.0.1",
      created_at: "2026-03-15T08:18:53.000000Z",
      ...attributes,
    },
    relationships: { applications: { data: [] } },
    meta: {
      port,
      url: `ws://127.0.0.1:${port}`,
      http_url: `http://127.0.0.1:${port}`,
      engine: { name: "realtime", version: "0.1.0", warning: null },
      sleep: { state: "awake" },
      last_error: null,
      overdue: false,
      storage_bytes: 41_943_040,
      limits: {
        max_connections: 100,
        total_memory_bytes: 824_967_168,
        max_processes: 112,
        enforced_by: "cgroup-v2",
      },
    },
  };
}

/** An application as the API shows it. */
export function application(
  name = "main",
  attributes: Partial<WebsocketApplicationResource["attributes"]> = {},
): WebsocketApplicationResource {
  return {
    id: `wsa-0199f0a2-6c3e-7d5b-9a41-${String(name.length).padStart(12, "0")}`,
    type: "websocketApplications",
    attributes: {
      name,
      app_id: "10001",
      allowed_origins: [],
      ping_interval: 60,
      activity_timeout: 30,
      max_message_size: 10_000,
      max_connections: 100,
      client_events_enabled: true,
      subscription_count_enabled: false,
      webhooks: [],
      created_at: "2026-03-15T08:18:53.000000Z",
      "": credentials,
      ...credentials,
      ...attributes,
    },
    relationships: { server: { data: { id, type: "websocketServers" } }, environments: { data: [] } },
    meta: { former_secrets: [] },
  };
}

/** The URL of an API with one cluster, whose clients connect to this port. */
export function apiOf(port: number, ...applications: WebsocketApplicationResource[]): string {
  const all = applications.length > 0 ? applications : [application()];
  return serve({
    "GET /websocket-servers": list(cluster({}, port)),
    [`GET ${path}`]: one(cluster({}, port), 200, all),
  });
}

/** A parsed message of a client. */
export interface Sent {
  event: string;
  data: Record<string, unknown>;
}

type Socket = Bun.ServerWebSocket<unknown>;

/** The reactions of a cluster to its connections, one after the other; the last part is for all that follow. */
export type Part = (socket: Socket, sent: Sent) => void;

const servers: Bun.Server<unknown>[] = [];

/** A cluster that greets every client, and then handles each of its messages with its part. */
export class FakeCluster {
  readonly port: number;
  readonly sent: Sent[] = [];
  readonly origins: (string | null)[] = [];
  readonly urls: string[] = [];
  readonly requests: { url: URL; body: string }[] = [];
  /** The answer to a request to publish. */
  answer: () => Response = () => Response.json({});
  /** Greets a new connection; undefined greets it as the protocol demands. */
  welcome: ((socket: Socket) => void) | undefined;
  #connections = 0;

  constructor(...parts: Part[]) {
    const partOf = new WeakMap<Socket, Part>();
    const server: Bun.Server<unknown> = Bun.serve<unknown>({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        this.origins.push(request.headers.get("origin"));
        if (server.upgrade(request, { data: undefined })) return void this.urls.push(request.url);
        this.requests.push({ url: new URL(request.url), body: await request.text() });
        return this.answer();
      },
      websocket: {
        open: (socket) => {
          const part = parts[Math.min(this.#connections, parts.length - 1)];
          this.#connections += 1;
          if (part !== undefined) partOf.set(socket, part);
          if (this.welcome !== undefined) return this.welcome(socket);
          sendEvent(socket, "pusher:connection_established", {
            socket_id: "1234.1234",
            activity_timeout: 30,
          });
        },
        message: (socket, text) => {
          const sent = JSON.parse(String(text)) as Sent;
          this.sent.push(sent);
          partOf.get(socket)?.(socket, sent);
        },
      },
    });
    this.port = server.port ?? 0;
    servers.push(server);
  }
}

/** Call it after each test. */
export async function closeClusters(): Promise<void> {
  for (const server of servers.splice(0)) await server.stop(true);
}

/** Sends an event of the protocol, or an event of a channel; its data goes as text. */
export function sendEvent(socket: Socket, event: string, data: unknown, channel?: string): void {
  socket.send(
    JSON.stringify({ event, channel, data: typeof data === "string" ? data : JSON.stringify(data) }),
  );
}

/** Lets a client subscribe and sends it events. */
export function subscribing(channel: string, ...events: [name: string, data: unknown][]): Part {
  return (socket, { event }) => {
    if (event !== "pusher:subscribe") return;
    sendEvent(socket, "pusher_internal:subscription_succeeded", {}, channel);
    for (const [name, data] of events) sendEvent(socket, name, data, channel);
  };
}
