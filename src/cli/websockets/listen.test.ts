// `pilvi websockets listen` against a cluster that follows a script.
import { afterEach, describe, expect, test } from "bun:test";
import { badGateway, closeServers, failureOf, list, one, requests, serve } from "../test-server.ts";
import { fakeIo, type FakeIo, runCommand } from "../test-support.ts";
import { Subscriber } from "./subscriber.ts";
import {
  apiOf,
  application,
  closeClusters,
  cluster,
  credentials,
  FakeCluster,
  id,
  type Part,
  subscribing,
  sendEvent,
} from "./test-support.ts";

afterEach(async () => {
  await closeServers();
  await closeClusters();
});

function listen(io: FakeIo, fake: FakeCluster, channel: string, ...options: string[]): Promise<void> {
  return runCommand(io, apiOf(fake.port), "websockets", "listen", "chat", channel, ...options);
}

/** Closes every connection that sends a message. */
function closing(code: number, reason = ""): Part {
  return (socket) => socket.close(code, reason);
}

/** Interrupts as soon as this many lines were printed. */
function interruptedAfter(lines: number): FakeIo {
  const io = fakeIo({
    out(text) {
      io.stdout += text;
      if (io.stdout.split("\n").length > lines) io.interrupt();
    },
  });
  return io;
}

describe("listen", () => {
  test("prints the channel's events until Ctrl-C, which is a success", async () => {
    const fake = new FakeCluster((socket, sent) => {
      subscribing("news", ["hello", '{"text":"moi"}'])(socket, sent);
      sendEvent(socket, "hello", "{}", "other");
      sendEvent(socket, "pusher_internal:subscription_count", { subscription_count: 1 }, "news");
    });
    const io = interruptedAfter(2);
    await listen(io, fake, "news");
    expect(io.stdout).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3}  hello  {"text":"moi"}\n[\d:.]+  pusher:subscription_count  {"subscription_count":1}\n$/,
    );
    expect(io.stderr).toBe("Listening to news of the application main. Ctrl-C ends it.\n");
    expect(fake.urls[0]).toContain(`/app/${credentials.key}?protocol=7&`);
    expect(fake.sent).toEqual([{ event: "pusher:subscribe", data: { channel: "news" } }]);
  });

  test("prints only events of the given name, as objects, and ends after the given number", async () => {
    const fake = new FakeCluster(
      subscribing("news", ["other", "1"], ["hello", '{"n":1}'], ["hello", "two"], ["hello", "3"]),
    );
    const io = fakeIo();
    await listen(io, fake, "news", "--event", "hello", "--count", "2", "--json");
    const events = io.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(events).toEqual([
      { time: expect.any(String), channel: "news", event: "hello", data: { n: 1 } },
      { time: expect.any(String), channel: "news", event: "hello", data: "two" },
    ]);
  });

  test("gets into private and presence channels, and receives events for its user", async () => {
    const fake = new FakeCluster((socket, { event, data }) => {
      if (event === "pusher:signin") return sendEvent(socket, "pusher:signin_success", {});
      const channel = String(data.channel);
      const presence = { presence: { ids: ["1", "42"], hash: {}, count: 2 } };
      sendEvent(
        socket,
        "pusher_internal:subscription_succeeded",
        channel.startsWith("presence-") ? presence : {},
        channel,
      );
      sendEvent(socket, "hello", "{}", channel);
    });
    const io = fakeIo();
    await listen(io, fake, "private-foobar", "--count", "1");
    await listen(io, fake, "presence-room", "--count", "1", "--user", "42");
    await listen(io, fake, "#server-to-user-7", "--count", "1");
    await listen(io, fake, "private-encrypted-x", "--count", "1");
    const [signedIn] = [{ id: "7" }].map((user) => JSON.stringify(user));
    expect(fake.sent.slice(0, 4)).toEqual([
      {
        event: "pusher:subscribe",
        data: {
          channel: "private-foobar",
          auth: `${credentials.key}:58df8b0c36d6982b82c3ecf6b4662e34fe8c25bba48f5369f135bf843651c3a4`,
        },
      },
      {
        event: "pusher:subscribe",
        data: {
          channel: "presence-room",
          auth: expect.stringMatching(/^278d425bdf160c739803:[0-9a-f]{64}$/),
          channel_data: '{"user_id":"42"}',
        },
      },
      { event: "pusher:signin", data: { auth: expect.any(String), user_data: signedIn } },
      { event: "pusher:subscribe", data: { channel: "#server-to-user-7", auth: "" } },
    ]);
    expect(io.stderr).toContain("Listening to presence-room of the application main. There: 1, 42. Ctrl-C");
    expect(io.stderr).toContain("Its events are encrypted, and shown as they come.");
  });

  test("answers a ping of the cluster", async () => {
    const fake = new FakeCluster((socket, { event }) => {
      if (event === "pusher:pong") return subscribing("news", ["hello", "{}"])(socket, subscribe);
      sendEvent(socket, "pusher:ping", {});
    });
    const subscribe = { event: "pusher:subscribe", data: {} };
    await listen(fakeIo(), fake, "news", "--count", "1");
    expect(fake.sent.map(({ event }) => event)).toEqual(["pusher:subscribe", "pusher:pong"]);
  });

  test("pings a silent cluster", async () => {
    const fake = new FakeCluster((socket, { event }) => {
      if (event === "pusher:ping") return sendEvent(socket, "hello", "{}", "news");
      sendEvent(socket, "pusher_internal:subscription_succeeded", {}, "news");
    });
    fake.welcome = (socket) =>
      sendEvent(socket, "pusher:connection_established", { socket_id: "1.1", activity_timeout: 0.05 });
    await listen(fakeIo(), fake, "news", "--count", "1");
    expect(fake.sent.map(({ event }) => event)).toEqual(["pusher:subscribe", "pusher:ping"]);
  });

  test("names an origin where the application demands it", async () => {
    const fake = new FakeCluster(subscribing("news", ["hello", "{}"]));
    const strict = application("main", { allowed_origins: ["*.example.com"] });
    const url = apiOf(fake.port, strict);
    await runCommand(fakeIo(), url, "websockets", "listen", "chat", "news", "--count", "1");
    expect(fake.origins[0]).toBe("https://pilvi.example.com");
  });
});

describe("a connection that is closed", () => {
  test("is made again: at once after a 42xx, later after another end", async () => {
    const fake = new FakeCluster(
      closing(4200, "Server is going away, please reconnect"),
      closing(1001),
      closing(4100, "Over capacity"),
      subscribing("news", ["hello", "{}"]),
    );
    const pauses: number[] = [];
    const io = fakeIo({ pause: async (ms) => void pauses.push(ms) });
    await listen(io, fake, "news", "--count", "1");
    expect(pauses).toEqual([0, 1000, 1000]);
    expect(io.stderr).toStartWith(
      "The connection is gone (Server is going away, please reconnect, code 4200). Connecting again at once.\n",
    );
    // It reads the secret again, since a rotated secret may be the reason.
    expect(requests.filter((request) => request.startsWith("GET /websocket-servers/ws-"))).toHaveLength(4);
  });

  test("is made again although the cluster and Pilvi are away for a while", async () => {
    const fake = new FakeCluster(closing(4200));
    const pauses: number[] = [];
    const io = fakeIo({
      async pause(ms) {
        pauses.push(ms);
        if (pauses.length === 1) await Promise.all([closeServers(), closeClusters()]);
        if (pauses.length === 3) io.interrupt();
      },
    });
    await listen(io, fake, "news");
    expect(pauses).toEqual([0, 1000, 2000]);
    expect(io.stderr).toContain("(Failed to connect, code 1006). Connecting again in 1 s.\n");
  });

  test("is made again while a proxy answers in the place of Pilvi", async () => {
    const fake = new FakeCluster(closing(4200));
    let pauses = 0;
    const io = fakeIo({
      async pause() {
        pauses += 1;
        if (pauses === 3) io.interrupt();
      },
    });
    const url = serve({
      "GET /websocket-servers": list(cluster({}, fake.port)),
      [`GET /websocket-servers/${id}`]: [one(cluster({}, fake.port), 200, [application()]), badGateway],
    });
    await runCommand(io, url, "websockets", "listen", "chat", "news");
    expect(pauses).toBe(3);
  });

  test.each([
    [4001, "Application does not exist", `does not know the application main (code 4001)`],
    [4004, "Over connection quota", `websockets update ${id} --max-connections NUMBER`],
    [4009, "Origin not allowed", "closed the connection for good: Origin not allowed (code 4009)."],
    [
      4007,
      "Unsupported protocol version",
      "refuses the connection: Unsupported protocol version (code 4007).",
    ],
  ])("stays closed after a %d", async (code, reason, message) => {
    const fake = new FakeCluster();
    fake.welcome = (socket) => {
      socket.send(JSON.stringify({ event: "pusher:error", data: { code, message: reason } }));
      socket.close(code, "");
    };
    const failure = await failureOf(listen(fakeIo(), fake, "news"));
    expect(failure?.exitCode).toBe(1);
    expect(failure?.text).toContain(message);
  });

  test("was never open where no server answers", async () => {
    const fake = new FakeCluster();
    await closeClusters();
    expect(await failureOf(listen(fakeIo(), fake, "news"))).toEqual({
      text: `Nothing that speaks the protocol answers at ws://127.0.0.1:${fake.port}: Failed to connect.`,
      exitCode: 1,
    });
  });

  test("is not made again when the channel is refused", async () => {
    const fake = new FakeCluster((socket) => {
      sendEvent(socket, "pusher:subscription_error", { error: "Invalid channel name", status: 400 }, "n n");
    });
    expect(await failureOf(listen(fakeIo(), fake, "n n"))).toEqual({
      text: "The cluster refuses the channel n n: Invalid channel name",
      exitCode: 1,
    });
  });

  test("is given up when the cluster is silent for too long, at its beginning or later", async () => {
    const dumb = new FakeCluster();
    const listener = { subscribed() {}, received() {}, complaint() {} };
    const url = `ws://127.0.0.1:${dumb.port}`;
    const subscription = { url, credentials, channel: "news", userId: "1", origin: undefined };
    dumb.welcome = (socket) =>
      sendEvent(socket, "pusher:connection_established", { socket_id: "1.1", activity_timeout: 0.01 });
    expect(await new Subscriber(subscription, listener, 3_000).ended).toMatchObject({ wasConnected: true });
    dumb.welcome = () => {};
    expect(await new Subscriber(subscription, listener, 10).ended).toMatchObject({ wasConnected: false });
  });

  test("ends the pause before the next connection on Ctrl-C", async () => {
    const fake = new FakeCluster(closing(1001));
    const io = fakeIo({
      async pause(_ms, signal) {
        io.interrupt();
        signal?.throwIfAborted();
      },
    });
    await listen(io, fake, "news");
    expect(io.stdout).toBe("");
  });
});
