// Clients that ask for much and do not read it are closed before it takes much memory, and honest readers stay.
import { expect, test } from "bun:test";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import { createLog } from "../../lib/log.ts";
import { Channel } from "../channel.ts";
import { channelKindOf, type ChannelKind } from "../protocol/channel-name.ts";
import { TestCluster, KEY } from "../test-support.ts";
import { Backlog } from "./backlog.ts";
import { listen, socketHandlers, type ClientSocket, type SocketData } from "./listener.ts";

const MIB = 1024 ** 2;
const EVENT_BYTES = 10_000;
/** Beyond the limits so much more may wait: what is not checked yet, and the answers to a message. */
const TOLERANCE_BYTES = 4 * MIB + 2 * EVENT_BYTES;

const SUBSCRIBE = JSON.stringify({ event: "pusher:subscribe", data: { channel: "cache-x" } });
const UNSUBSCRIBE = JSON.stringify({ event: "pusher:unsubscribe", data: { channel: "cache-x" } });
const PING = JSON.stringify({ event: "pusher:ping", data: {} });

/** A socket whose client reads nothing. */
class StalledSocket implements ClientSocket {
  data: SocketData = {
    handshake: { path: `/app/${KEY}`, query: "protocol=7", origin: null },
    connection: null,
  };
  buffered = 0;
  end: "closed" | "terminated" | null = null;

  sendText(frame: string): number {
    this.buffered += frame.length;
    return -1;
  }

  publishText(): number {
    return -1;
  }

  getBufferedAmount(): number {
    return this.buffered;
  }

  subscribe(): boolean {
    return true;
  }

  unsubscribe(): boolean {
    return true;
  }

  ping(): number {
    return -1;
  }

  close(): void {
    this.end = "closed";
  }

  terminate(): void {
    this.end = "terminated";
  }
}

type Listening = ReturnType<typeof listening>;

function listening() {
  const { cluster } = new TestCluster();
  cluster.applicationByAppId("3")?.publish("cache-x", "event", "x".repeat(EVENT_BYTES));
  const log = createLog("realtime", "silent");
  const backlog = new Backlog(cluster, log);
  const handlers = socketHandlers(cluster, backlog, log);
  const connected = () => {
    const socket = new StalledSocket();
    handlers.open(socket);
    return socket;
  };
  /** Has the last event sent until so many bytes wait, or the connection has ended. */
  const ask = (socket: StalledSocket, bytes: number) => {
    while (socket.buffered < bytes && socket.end === null) {
      handlers.message(socket, SUBSCRIBE);
      handlers.message(socket, UNSUBSCRIBE);
    }
  };
  return { cluster, backlog, handlers, connected, ask };
}

test("a client that asks for the same event again and again is closed before the next check by the clock", () => {
  const { cluster, connected, ask } = listening();
  const socket = connected();
  ask(socket, 16 * MIB);
  expect(socket.end).not.toBeNull();
  expect(socket.buffered).toBeLessThan(TOLERANCE_BYTES);
  expect(cluster.connectionCount).toBe(0);
  expect(cluster.counters.slowConsumers).toBe(1);
});

test("all clients together make no more wait than may wait for all", () => {
  const { connected, ask } = listening();
  const sockets = Array.from({ length: 300 }, connected);
  let most = 0;
  for (const socket of sockets) {
    ask(socket, MIB - 2 * EVENT_BYTES);
    const waiting = sockets.reduce((sum, { buffered, end }) => sum + (end === null ? buffered : 0), 0);
    most = Math.max(most, waiting);
  }
  expect(most).toBeLessThan(256 * MIB + TOLERANCE_BYTES);
});

test("a client that is sent a burst of published events has until the check by the clock, whatever others ask for", () => {
  const { backlog, handlers, connected, ask } = listening();
  const [reader, greedy] = [connected(), connected()];
  reader.buffered += 3 * MIB;
  for (let count = 0; count < 100; count += 1) handlers.message(reader, PING);
  ask(greedy, 16 * MIB);
  expect(greedy.end).not.toBeNull();
  expect(reader.end).toBeNull();
  backlog.check();
  expect(reader.end).toBe("closed");
});

test("answers that were read do not count any more", () => {
  const { connected, ask } = listening();
  const [reader, greedy] = [connected(), connected()];
  for (let round = 0; round < 10; round += 1) {
    ask(reader, MIB / 2);
    reader.buffered = 0;
  }
  // Of what is published now, no more than half is taken for answers.
  reader.buffered = MIB / 2;
  ask(greedy, 16 * MIB);
  expect([reader.end, greedy.end === null]).toEqual([null, false]);
});

test("a check by the clock lets clients send events again, also when it looks at no buffer", () => {
  const { cluster, backlog } = listening();
  const channel = new Channel("private-x", channelKindOf("private-x") as ChannelKind, "x");
  const event = "x".repeat(MIB);
  const isTaken = () => cluster.clientBudget.takeEvent(channel, event);
  expect([isTaken(), isTaken()]).toEqual([true, false]);
  backlog.check();
  expect(isTaken()).toBe(true);
});

test("pongs for a client that does not read are found by the clock", () => {
  const { backlog, handlers, connected } = listening();
  const socket = connected();
  for (let count = 0; count < 10_000; count += 1) {
    handlers.ping(socket);
    // Bun answers by itself.
    socket.buffered += 127;
  }
  backlog.check();
  expect(socket.end).toBe("closed");
});

test.each([
  ["by the clock", ({ backlog }: Listening) => backlog.check()],
  [
    "for any other reason",
    ({ handlers }: Listening, sockets: StalledSocket[]) => {
      for (const socket of sockets) handlers.message(socket, "x".repeat(20_000));
    },
  ],
])("clients that are closed %s are ended at once while too much waits for closed clients", (_, close) => {
  const server = listening();
  const sockets = Array.from({ length: 40 }, server.connected);
  const idle = server.connected();
  for (const socket of sockets) socket.buffered = 2 * MIB;
  server.backlog.bytes = 80 * MIB;
  close(server, sockets);
  expect(sockets.map(({ end }) => end)).toEqual([
    ...Array(32).fill("closed"),
    ...Array(8).fill("terminated"),
  ]);
  idle.buffered = 0;
  server.handlers.message(idle, "x".repeat(20_000));
  expect(idle.end).toBe("closed");
  expect(server.cluster.connectionCount).toBe(0);
});

test("a question of a browser ends its connection, however many follow it unread", async () => {
  const { cluster, backlog } = listening();
  const port = freePort();
  const config = { address: "127.0.0.1", port, certificate: null };
  const server = listen(cluster, config, backlog, createLog("realtime", "silent"));
  try {
    let received = "";
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    await Bun.connect({
      hostname: config.address,
      port,
      socket: {
        open: (socket) => void socket.write("OPTIONS /apps/3/events HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100)),
        data: (_, bytes) => void (received += bytes.toString()),
        close: () => end(),
      },
    });
    await ended;
    expect(received.split("HTTP/1.1 204 ")).toHaveLength(2);
  } finally {
    await server.stop(true);
  }
});
