// Frames that clients may send: random JSON, nonsense, and valid frames with a change, from fixed seeds. No frame
// fails.
import { describe, expect, test } from "bun:test";
import { channelText, hmacHex, userText } from "./protocol/signatures.ts";
import { KEY, randomOf, SECRET, TestCluster, type TestClient } from "./test-support.ts";

const FRAMES_PER_SEED = 10_000;

const EVENTS = [
  "pusher:subscribe",
  "pusher:unsubscribe",
  "pusher:signin",
  "pusher:ping",
  "pusher:pong",
  "pusher_internal:member_added",
  "client-x",
  "",
];
const CHANNELS = [
  "a",
  "private-a",
  "presence-a",
  "presence-cache-a",
  "cache-a",
  "private-encrypted-a",
  "#server-to-user-1",
  "__proto__",
  "",
];
const KEYS = [
  "event",
  "data",
  "channel",
  "auth",
  "channel_data",
  "user_data",
  "id",
  "watchlist",
  "__proto__",
];
const ODD = [null, true, 0, -0, 1e308, 1e-7, "", "\u0000", "\ud800", "😀", "__proto__", [], {}];

/** Makes frames from a seed. */
class Fuzzer {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomOf(seed);
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  one<T>(of: readonly T[]): T {
    return of[this.below(of.length)] as T;
  }

  value(depth = 0): unknown {
    const kind = this.below(depth > 4 ? 6 : 9);
    if (kind < 4) return this.one(ODD);
    if (kind < 6) return this.one([...EVENTS, ...CHANNELS]);
    if (kind === 6) return Array.from({ length: this.below(4) }, () => this.value(depth + 1));
    return Object.fromEntries(
      Array.from({ length: this.below(4) }, () => [this.one(KEYS), this.value(depth + 1)]),
    );
  }

  /** A frame that is valid for the client, or nearly valid. */
  frame({ socketId }: TestClient): Record<string, unknown> {
    const channel = this.one(CHANNELS);
    const member = JSON.stringify({ user_id: this.one(["1", 2, "__proto__"]), user_info: this.value() });
    const channelData = channel.startsWith("presence") ? member : undefined;
    const auth = `${KEY}:${hmacHex(SECRET, channelText(socketId, channel, channelData))}`;
    const data = { channel, auth, channel_data: channelData };
    const event = this.one(EVENTS);
    if (event === "pusher:signin") return { event, data: this.signin(socketId) };
    if (event === "client-x") return { event, channel, data: this.value() };
    return { event, data: this.below(4) === 0 ? JSON.stringify(data) : data };
  }

  signin(socketId: string): Record<string, unknown> {
    const userData = JSON.stringify({
      id: "1",
      user_info: this.value(),
      watchlist: [this.value(), "1", "2"],
    });
    return { auth: `${KEY}:${hmacHex(SECRET, userText(socketId, userData))}`, user_data: userData };
  }

  text(client: TestClient): string {
    const text = JSON.stringify(this.below(4) === 0 ? this.value() : this.frame(client));
    const position = this.below(text.length);
    switch (this.below(5)) {
      case 0:
        return text.slice(0, position);
      case 1:
        return text.slice(0, position) + String.fromCharCode(this.below(0x2_000)) + text.slice(position + 1);
      case 2:
        return JSON.stringify({ ...this.frame(client), [this.one(KEYS)]: this.value() });
      default:
        return text;
    }
  }
}

describe.each([1, 2, 3, 4])("frames of seed %i", (seed) => {
  test("never fail, and leave nothing behind when all clients are gone", () => {
    const fuzzer = new Fuzzer(seed);
    const network = new TestCluster({ subscriptionCountEnabled: true });
    let clients = Array.from({ length: 5 }, () => network.connected());
    for (let i = 0; i < FRAMES_PER_SEED; i++) {
      const client = fuzzer.one(clients);
      client.saysText(fuzzer.text(client));
      client.take();
      if (fuzzer.below(50) === 0) client.disconnects();
      clients = clients.map((each) => (each.connection?.isClosed === true ? network.connected() : each));
    }
    const application = network.cluster.applicationByAppId("3");
    for (const channel of application?.channels() ?? []) {
      const subscribers = clients.filter(({ connection }) => connection?.channels.has(channel.name));
      expect(channel.subscriptionCount).toBe(subscribers.length);
      if (channel.kind.isPresence) expect(channel.userCount).toBeWithin(1, 4);
    }
    for (const client of clients) client.disconnects();
    expect([...(application?.channels() ?? [])]).toEqual([]);
    expect(network.cluster.connectionCount).toBe(0);
    const count = (name: string) => network.events.filter(([event]) => event === name).length;
    expect(count("channel_occupied")).toBe(count("channel_vacated"));
    expect(count("member_added")).toBe(count("member_removed"));
    expect(count("member_added")).toBeGreaterThan(10);
    expect(count("client_event")).toBeGreaterThan(5);
  });
});
