// WebSocket clusters for tests: creating them, publishing signed events, and sockets without a client library.
import { createHash, createHmac } from "node:crypto";
import type {
  ApplicationResource,
  WebSocketClusterResource,
} from "../../../src/resources/websockets/schema.ts";
import { validServer } from "../api/api.ts";
import { until, type TestPilvi } from "./pilvi.ts";

/** An answer about a cluster. */
export interface ServerDocument {
  data: WebSocketClusterResource;
  included?: ApplicationResource[];
}

/** An answer about an application. */
export interface ApplicationDocument {
  data: ApplicationResource;
}

/** A cluster with its first application. */
export interface TestServer {
  id: string;
  server: WebSocketClusterResource;
  main: ApplicationResource;
}

/** Requests a cluster. */
export async function orderServer(
  pilvi: TestPilvi,
  attributes: object = {},
  headers: Record<string, string> = {},
): Promise<TestServer> {
  const body = { ...validServer, ...attributes };
  const answer = await pilvi.api<ServerDocument>("POST", "/websocket-servers", body, headers);
  const { data, included } = answer.body;
  const [main] = included ?? [];
  if (answer.status !== 201 || main === undefined)
    throw new Error(`no cluster: ${JSON.stringify(answer.body)}`);
  return { id: data.id, server: data, main };
}

/** Creates a cluster and waits until it is available. */
export async function createServer(pilvi: TestPilvi, attributes: object = {}): Promise<TestServer> {
  const made = await orderServer(pilvi, attributes);
  return { ...made, server: await untilServer(pilvi, made.id) };
}

/** Waits until the cluster is available, so that its desired state is in force as well. */
export async function untilServer(pilvi: TestPilvi, id: string): Promise<WebSocketClusterResource> {
  const { status, body } = await pilvi.api<ServerDocument>("GET", `/websocket-servers/${id}?wait=available`);
  if (status === 200 && body.data.attributes.status === "available") return body.data;
  throw new Error(`${id} is not available: ${status} ${JSON.stringify(body)}`);
}

/** Changes an application and waits until the change is in force. */
export async function changeApplication(
  pilvi: TestPilvi,
  { id, relationships }: ApplicationResource,
  change: object,
): Promise<ApplicationResource> {
  const answer = await pilvi.api<ApplicationDocument>("PATCH", `/websocket-applications/${id}`, change);
  if (answer.status !== 200) throw new Error(`no change: ${answer.status} ${JSON.stringify(answer.body)}`);
  await untilServer(pilvi, relationships.server.data?.id ?? "");
  return answer.body.data;
}

/** Deletes the cluster and waits until it is gone. */
export async function deleteServer(pilvi: TestPilvi, id: string): Promise<void> {
  await pilvi.api("DELETE", `/websocket-servers/${id}`);
  const { status } = await pilvi.api("GET", `/websocket-servers/${id}?wait=deleted`);
  if (status !== 404) throw new Error(`${id} is not gone: ${status}`);
}

/** Publishes an event as an application's server would, and returns the status of the answer. */
export async function publish(
  { meta }: WebSocketClusterResource,
  { attributes }: ApplicationResource,
  event: { channel: string; name: string; data: string },
  options: { secret?: string; tls?: { ca: string } } = {},
): Promise<number> {
  const body = JSON.stringify(event);
  const path = `/apps/${attributes.app_id}/events`;
  const md5 = createHash("md5").update(body).digest("hex");
  const now = Math.floor(Date.now() / 1000);
  const query = `auth_key=${attributes.key}&auth_timestamp=${now}&auth_version=1.0&body_md5=${md5}`;
  const signature = createHmac("sha256", options.secret ?? attributes.secret ?? "")
    .update(`POST\n${path}\n${query}`)
    .digest("hex");
  const response = await fetch(`${meta.http_url}${path}?${query}&auth_signature=${signature}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
    keepalive: false,
    ...(options.tls && { tls: options.tls }),
  });
  await response.arrayBuffer();
  return response.status;
}

interface Frame {
  event: string;
  channel?: string;
  data?: unknown;
}

function reportsEntry({ event }: Frame): boolean {
  return event === "pusher_internal:subscription_succeeded";
}

/** A WebSocket that records its messages. */
export class RawSocket {
  readonly frames: Frame[] = [];
  closeCode: number | null = null;
  readonly #socket: WebSocket;

  constructor(
    { meta }: WebSocketClusterResource,
    { attributes }: ApplicationResource,
    options: { headers?: Record<string, string>; tls?: { ca: string } } = {},
  ) {
    // Bun takes options where browsers take protocols.
    this.#socket = new WebSocket(`${meta.url}/app/${attributes.key}?protocol=7`, options as never);
    this.#socket.addEventListener("message", ({ data }) => {
      this.frames.push(JSON.parse(String(data)) as Frame);
    });
    this.#socket.addEventListener("close", ({ code }) => {
      this.closeCode = code;
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN && this.closeCode === null;
  }

  /** Waits for an event and gives its data. */
  async next(event: string): Promise<unknown> {
    await until(`${event} has come`, () => this.frames.some((frame) => frame.event === event));
    return this.frames.find((frame) => frame.event === event)?.data;
  }

  /** Waits until the server has let it in. */
  async connected(): Promise<this> {
    await this.next("pusher:connection_established");
    return this;
  }

  async subscribe(channel: string): Promise<void> {
    this.#socket.send(JSON.stringify({ event: "pusher:subscribe", data: { channel } }));
    await until("it is subscribed", () =>
      this.frames.some(
        (frame) => frame.event === "pusher_internal:subscription_succeeded" && frame.channel === channel,
      ),
    );
  }

  /** Subscribes to many channels at once. */
  async subscribeAll(channels: string[]): Promise<void> {
    const before = this.frames.length;
    for (const channel of channels) {
      this.#socket.send(JSON.stringify({ event: "pusher:subscribe", data: { channel } }));
    }
    await until("it is answered for each", () => this.frames.length >= before + channels.length);
  }

  /** Becomes a member of many presence channels at once. */
  async enterAll({ attributes }: ApplicationResource, channels: string[], member: object): Promise<void> {
    const data = JSON.parse(String(await this.next("pusher:connection_established"))) as {
      socket_id: string;
    };
    const channel_data = JSON.stringify(member);
    for (const channel of channels) {
      const signature = createHmac("sha256", attributes.secret ?? "")
        .update(`${data.socket_id}:${channel}:${channel_data}`)
        .digest("hex");
      const auth = `${attributes.key}:${signature}`;
      this.#socket.send(JSON.stringify({ event: "pusher:subscribe", data: { channel, auth, channel_data } }));
    }
    await until("it is a member of each", () => this.frames.filter(reportsEntry).length === channels.length);
  }

  async closed(): Promise<number> {
    await until("it is closed", () => this.closeCode !== null);
    return this.closeCode ?? 0;
  }

  close(): void {
    this.#socket.close();
  }
}

/** Whether the server accepts a new socket now. */
export async function lets(
  server: WebSocketClusterResource,
  application: ApplicationResource,
  headers: Record<string, string> = {},
): Promise<boolean> {
  const socket = new RawSocket(server, application, { headers });
  await until("the server has decided", () => socket.frames.length > 0 || socket.closeCode !== null);
  const isIn = socket.frames[0]?.event === "pusher:connection_established";
  socket.close();
  return isIn;
}
