// A cluster without sockets for tests: its clients record every frame that they get, and its events are recorded too.
import { Cluster } from "./cluster.ts";
import type { WebSocketApplication } from "../contracts/websocket-application.ts";
import type { Connection } from "./connection.ts";
import type { ApplicationEvents } from "./events.ts";
import { channelText, hmacHex, userText } from "./protocol/signatures.ts";
import type { Transport } from "./transport.ts";

/** A frame of the server. */
export interface Frame {
  event: string;
  channel?: string;
  data?: unknown;
  user_id?: string;
}

export const KEY = "278d425bdf160c739803";
export const SECRET = "7ad3773142a6692b25b8";

/** An application as the control plane describes it. */
export function applicationConfig(overrides: Partial<WebSocketApplication> = {}): WebSocketApplication {
  return {
    id: "application",
    appId: "3",
    key: KEY,
    secrets: [{ secret: SECRET, expiresAt: null }],
    allowedOrigins: [],
    pingIntervalSeconds: 60,
    activityTimeoutSeconds: 30,
    maxMessageBytes: 10_000,
    maxConnections: 1_000,
    clientEventsEnabled: true,
    subscriptionCountEnabled: false,
    webhooks: [],
    ...overrides,
  };
}

/** One or more applications, with their clients. */
export class TestCluster {
  readonly cluster: Cluster;
  /** The events from which webhooks are made, each with its name and its arguments. */
  readonly events: unknown[][] = [];
  readonly #topics = new Map<string, Set<TestClient>>();

  constructor(...applications: Partial<WebSocketApplication>[]) {
    this.cluster = new Cluster(
      (topic, frame) => this.publish(topic, frame),
      () => this.#recorder(),
    );
    this.configure(...(applications.length === 0 ? [{}] : applications));
  }

  /** Gives the whole cluster a new configuration. */
  configure(...applications: Partial<WebSocketApplication>[]): void {
    this.cluster.configure({ maxConnections: 10_000, applications: applications.map(applicationConfig) });
  }

  /** Connects like a client; the cluster may refuse. */
  connect(options: { path?: string; query?: string; origin?: string | null } = {}): TestClient {
    const client = new TestClient(this);
    const { path = `/app/${KEY}`, query = "protocol=7&client=js&version=8.4.0", origin = null } = options;
    client.connection = this.cluster.accept(client, { path, query, origin });
    return client;
  }

  /** Connects, and drops the greeting. */
  connected(): TestClient {
    const client = this.connect();
    client.take();
    return client;
  }

  /** The events so far, which are then forgotten. */
  takeEvents(): unknown[][] {
    return this.events.splice(0);
  }

  topic(name: string): Set<TestClient> {
    const topic = this.#topics.get(name) ?? new Set();
    this.#topics.set(name, topic);
    return topic;
  }

  publish(topic: string, frame: string, except?: TestClient): void {
    for (const client of this.topic(topic)) if (client !== except) client.send(frame);
  }

  leaveAll(client: TestClient): void {
    for (const topic of this.#topics.values()) topic.delete(client);
  }

  #recorder(): ApplicationEvents {
    const record =
      (name: string) =>
      (...said: unknown[]) =>
        void this.events.push([name, ...said]);
    return {
      channelOccupied: record("channel_occupied"),
      channelVacated: record("channel_vacated"),
      memberAdded: record("member_added"),
      memberRemoved: record("member_removed"),
      clientEvent: record("client_event"),
      cacheMiss: record("cache_miss"),
      subscriptionCount: record("subscription_count"),
    };
  }
}

/** A client and its socket in one. */
export class TestClient implements Transport {
  connection: Connection | null = null;
  /** How the server closed the connection. */
  closed: { code: number; reason: string } | null = null;
  /** The pings of RFC 6455 that the client got. */
  pings = 0;
  /** How many bytes the client pretends not to have read. */
  buffered = 0;
  /** How many of them are answers. */
  bufferedAnswers = 0;
  readonly #network: TestCluster;
  #frames: Frame[] = [];

  constructor(network: TestCluster) {
    this.#network = network;
  }

  get socketId(): string {
    return this.connection?.socketId ?? "";
  }

  /** The frames that came since the last call. */
  take(): Frame[] {
    return this.#frames.splice(0).map(readable);
  }

  /** The names of the frames that came since the last call. */
  takeNames(): string[] {
    return this.take().map(({ event }) => event);
  }

  /** Sends a frame to the server. */
  says(event: string, data?: unknown, channel?: string): void {
    this.saysText(JSON.stringify({ event, data, channel }));
  }

  saysText(text: string): void {
    if (this.connection?.isClosed === false) this.connection.receive(text);
  }

  /** Subscribes with a valid signature. @param channelData as an object; left out of the message when undefined. */
  subscribes(channel: string, channelData?: unknown): void {
    const text = channelData === undefined ? undefined : JSON.stringify(channelData);
    const auth = `${KEY}:${hmacHex(SECRET, channelText(this.socketId, channel, text))}`;
    this.says("pusher:subscribe", { channel, auth, channel_data: text });
  }

  signsIn(user: unknown): void {
    this.signsInBy(JSON.stringify(user));
  }

  /** Signs in with the user as JSON. */
  signsInBy(userData: string): void {
    const auth = `${KEY}:${hmacHex(SECRET, userText(this.socketId, userData))}`;
    this.says("pusher:signin", { auth, user_data: userData });
  }

  /** Leaves by itself. */
  disconnects(): void {
    this.#network.leaveAll(this);
    this.connection?.closed();
  }

  send(frame: string): void {
    if (this.closed !== null) throw new Error(`sent after it was closed: ${frame}`);
    this.#frames.push(JSON.parse(frame) as Frame);
  }

  ping(): void {
    this.pings += 1;
  }

  close(code: number, reason: string): void {
    if (this.closed !== null) throw new Error("closed twice");
    this.closed = { code, reason };
    this.#network.leaveAll(this);
  }

  join(topic: string): void {
    this.#network.topic(topic).add(this);
  }

  leave(topic: string): void {
    this.#network.topic(topic).delete(this);
  }

  publishToOthers(topic: string, frame: string): void {
    if (!this.#network.topic(topic).has(this)) throw new Error(`publishes to ${topic} without being there`);
    this.#network.publish(topic, frame, this);
  }

  bufferedBytes(): number {
    return this.buffered;
  }

  bufferedAnswerBytes(): number {
    return this.bufferedAnswers;
  }
}

/** Frames of the protocol hold their data as a JSON text; events of an application may hold anything. */
function readable(frame: Frame): Frame {
  const isOurs = frame.event.startsWith("pusher");
  return isOurs && typeof frame.data === "string"
    ? { ...frame, data: JSON.parse(frame.data) as unknown }
    : frame;
}

/** Random numbers that are equal for equal seeds (mulberry32). @returns a function for numbers from 0 up to 1. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
