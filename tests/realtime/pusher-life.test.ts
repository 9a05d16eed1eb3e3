// The official libraries when they are refused, when the server is replaced, and when webhooks report events.
import { afterEach, describe, expect, test } from "bun:test";
import Server from "pusher";
import type Pusher from "pusher-js";
import { until } from "../support/pilvi/pilvi.ts";
import { runProgram } from "../support/clients/programs.ts";
import {
  AuthServer,
  received,
  inState,
  pusherClient,
  subscribed,
} from "../support/clients/pusher-clients.ts";
import { APP, startRealtime, type TestRealtime } from "../support/engines/realtime.ts";

const clients: Pusher[] = [];
let realtime: TestRealtime | undefined;

afterEach(async () => {
  for (const each of clients.splice(0)) each.disconnect();
  await realtime?.close();
});

async function start(...overrides: Parameters<typeof startRealtime>): Promise<TestRealtime> {
  realtime = await startRealtime(...overrides);
  return realtime;
}

function client(...options: Parameters<typeof pusherClient>): Pusher {
  const made = pusherClient(...options);
  clients.push(made);
  return made;
}

describe("a client", () => {
  test("that is refused does not reconnect", async () => {
    const server = await start({ allowedOrigins: ["https://example.com"] });
    const refused = client(server.port);
    const errors = received(refused.connection, "error");
    await inState(refused, "disconnected");
    expect(errors).toMatchObject([{ error: { data: { code: 4009 } } }]);
  });

  test("reconnects and subscribes again when the server was replaced", async () => {
    const server = await start();
    const staying = client(server.port);
    const channel = await subscribed(staying.subscribe("news"));
    const events = received(channel, "hello");
    const states = received(staying.connection, "state_change");
    expect(await server.stop()).toBe(0);
    await until("it noticed", () => states.length > 0);
    await server.start();
    await server.configure();
    await inState(staying, "connected");
    await until("it subscribed again", async () => {
      const answer = await server.pusher().get({ path: "/channels/news" });
      return ((await answer.json()) as { occupied: boolean }).occupied;
    });
    await server.pusher().trigger("news", "hello", 1);
    await until("it receives events again", () => events.length === 1);
  });

  test("in Node connects, subscribes and receives events", async () => {
    const server = await start();
    const script = `
      const Pusher = require("pusher-js");
      const pusher = new Pusher("${APP.key}", { cluster: "", wsHost: "127.0.0.1", wsPort: ${server.port}, forceTLS: false, enabledTransports: ["ws"] });
      const channel = pusher.subscribe("cache-news");
      channel.bind("hello", (data) => { console.log(data.text); pusher.disconnect(); });`;
    await server.pusher().trigger("cache-news", "hello", { text: "from the cache" });
    expect(await runProgram(["node", "-e", script])).toBe("from the cache\n");
  });
});

/** A customer's server that records webhooks, once the library has verified them. */
class Receiver {
  readonly events: Record<string, unknown>[] = [];
  readonly #server: Bun.Server<undefined>;

  constructor() {
    const library = new Server({ ...APP, host: "127.0.0.1", port: "1", useTLS: false });
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: async (request) => {
        const headers = Object.fromEntries(request.headers);
        const webhook = library.webhook({ headers, rawBody: await request.text() });
        if (!webhook.isValid()) return new Response("wrong signature", { status: 401 });
        this.events.push(...(webhook.getEvents() as unknown as Record<string, unknown>[]));
        return new Response("");
      },
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/webhooks`;
  }

  async close(): Promise<void> {
    await this.#server.stop(true);
  }
}

test("webhooks report events to a customer's server", async () => {
  const receiver = new Receiver();
  const eventTypes = [
    "channel_occupied",
    "channel_vacated",
    "member_added",
    "member_removed",
    "client_event",
    "cache_miss",
    "subscription_count",
  ] as const;
  const server = await start({
    webhooks: [{ url: receiver.url, eventTypes: [...eventTypes], isBatched: false }],
  });
  const auth = new AuthServer(server.pusher());
  try {
    const ann = client(server.port, auth.options({ id: "ann" }));
    const room = await subscribed(ann.subscribe("presence-cache-room"));
    await subscribed(ann.subscribe("news"));
    room.trigger("client-typing", { now: true });
    await until("the event of the client arrives", () =>
      receiver.events.some(({ name }) => name === "client_event"),
    );
    const socketId = ann.connection.socket_id;
    ann.disconnect();
    await until(
      "all reports arrive",
      () => namesOf(receiver).filter((name) => name === "channel_vacated").length === 2,
    );

    const channel = "presence-cache-room";
    expect(receiver.events).toContainEqual({ name: "channel_occupied", channel });
    expect(receiver.events).toContainEqual({ name: "member_added", channel, user_id: "ann" });
    expect(receiver.events).toContainEqual({ name: "cache_miss", channel });
    expect(receiver.events).toContainEqual({
      name: "subscription_count",
      channel: "news",
      subscription_count: 1,
    });
    expect(receiver.events).toContainEqual({
      name: "client_event",
      channel,
      event: "client-typing",
      data: '{"now":true}',
      socket_id: socketId,
      user_id: "ann",
    });
    expect(receiver.events).toContainEqual({ name: "member_removed", channel, user_id: "ann" });
    expect(receiver.events).toContainEqual({
      name: "subscription_count",
      channel: "news",
      subscription_count: 0,
    });
    expect(new Set(namesOf(receiver))).toEqual(new Set(eventTypes));
  } finally {
    await auth.close();
    await receiver.close();
  }
});

function namesOf({ events }: Receiver): unknown[] {
  return events.map(({ name }) => name);
}
