// Delivery to a customer's server that fails, is slow or is gone.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { createServer, type AddressInfo, type Socket } from "node:net";
import type { Webhook } from "../../contracts/websocket-application.ts";
import { HookServer, signatureOf, startWebhooks, temporaryFolder, until } from "./test-support.ts";
import type { WebhooksOptions } from "./index.ts";

const MINUTE_MS = 60_000;
const server = new HookServer();
const folder = temporaryFolder();
let spools = 0;

beforeAll(() => server.listen());
beforeEach(() => {
  server.received.splice(0);
  server.answers.clear();
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

function start(urls: string[], options: Partial<WebhooksOptions> = {}) {
  const made = startWebhooks({ spoolFile: folder.path(`spool-${(spools += 1)}`), ...options });
  made.webhooks.configure(urls.map((url): Webhook => ({ url, eventTypes: ["cache_miss"], isBatched: true })));
  const miss = (channel: string) => {
    made.webhooks.cacheMiss(channel);
    made.clock.advance(50);
  };
  const { counters } = made.webhooks;
  /** Ends the present pause after so many failed attempts. */
  const afterFailures = async (count: number) => {
    await until(() => counters.failed === count && made.clock.pendingMs.length > 0);
    made.clock.advance(made.clock.pendingMs[0] ?? 0);
  };
  return { ...made, counters, miss, afterFailures };
}

function channelsAt(path: string): unknown[] {
  return server.at(path).flatMap(({ events }) => events.map((each) => each.channel));
}

/** A port of the loopback address at which no program listens. */
async function closedPort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as AddressInfo;
  await new Promise((resolve) => listener.close(resolve));
  return port;
}

/** A server that answers in bytes of its own. */
async function rawServer(serve: (socket: Socket) => void) {
  const listener = createServer((socket) => {
    socket.on("error", () => undefined);
    serve(socket);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as AddressInfo;
  const close = () => new Promise((resolve) => listener.close(resolve));
  return { url: `http://127.0.0.1:${port}/`, close };
}

test("failed batches are tried again in order, with growing pauses, signed with the secret of the moment", async () => {
  let secret = "old";
  const { webhooks, clock, counters, miss, afterFailures } = start([server.url("/a")], {
    credentials: () => ({ key: "key", secret }),
  });
  server.answers.set("/a", () => (server.at("/a").length <= 3 ? 503 : 204));
  miss("first");
  await until(() => counters.failed === 1);
  miss("second");
  secret = "new";
  const pausesMs: number[] = [];
  for (let failures = 1; failures <= 3; failures += 1) {
    await until(() => counters.failed === failures && clock.pendingMs.length > 0);
    pausesMs.push(clock.pendingMs[0] ?? 0);
    await afterFailures(failures);
  }
  await until(() => counters.delivered === 2);
  expect(channelsAt("/a")).toEqual(["first", "first", "first", "first", "second"]);
  for (const [index, pauseMs] of pausesMs.entries()) {
    expect(pauseMs).toBeLessThanOrEqual(1000 * 2 ** index);
    expect(pauseMs).toBeGreaterThanOrEqual(500 * 2 ** index - 50);
  }
  const [old, latest] = server.received;
  expect(old?.headers["x-pusher-signature"]).toBe(signatureOf(old?.body ?? "", "old"));
  expect(latest?.headers["x-pusher-signature"]).toBe(signatureOf(latest?.body ?? "", "new"));
  await webhooks.close();
});

test("a batch is given up after 5 minutes of errors, and the next batch gets its own attempt", async () => {
  const { webhooks, clock, counters, miss, afterFailures } = start([server.url("/a")]);
  const beganMs = clock.wallMs();
  server.answers.set("/a", () => (channelsAt("/a").includes("second") ? 200 : 500));
  miss("first");
  await until(() => counters.failed === 1);
  miss("second");
  for (let failures = 1; counters.dropped === 0; failures += 1) {
    await until(() => counters.failed === failures && clock.pendingMs.length > 0);
    await afterFailures(failures);
  }
  await until(() => counters.delivered === 1);
  expect(counters.dropped).toBe(1);
  expect(clock.wallMs() - beganMs).toBeGreaterThan(4 * MINUTE_MS);
  expect(clock.wallMs() - beganMs).toBeLessThanOrEqual(5 * MINUTE_MS + 1100);
  expect(counters.failed).toBeGreaterThan(8);
  expect(counters.failed).toBeLessThan(20);
  await webhooks.close();
});

test("an unreachable server costs all waiting batches 5 minutes together, not each in turn", async () => {
  const { webhooks, clock, counters, miss, afterFailures } = start([
    `http://127.0.0.1:${await closedPort()}/`,
  ]);
  miss("first");
  await until(() => counters.failed === 1);
  for (const channel of ["second", "third"]) miss(channel);
  for (let failures = 1; counters.dropped === 0; failures += 1) await afterFailures(failures);
  expect(counters).toEqual({ delivered: 0, failed: counters.failed, dropped: 3 });
  await until(() => clock.pendingMs.length === 0);
  await webhooks.close();
});

test("a webhook that fails or hangs does not delay the others", async () => {
  const hanging = Promise.withResolvers<number>();
  server.answers.set("/hangs", () => hanging.promise);
  server.answers.set("/fails", 500);
  const { webhooks, counters, miss } = start(["/hangs", "/fails", "/works"].map((path) => server.url(path)));
  for (let count = 1; count <= 5; count += 1) {
    miss(`cache-${count}`);
    await until(() => counters.delivered === count);
  }
  expect(channelsAt("/works")).toHaveLength(5);
  expect(channelsAt("/hangs")).toHaveLength(1);
  hanging.resolve(200);
  await until(() => counters.delivered === 10);
  await webhooks.close();
});

test("at most 4 requests of an application are under way", async () => {
  const hanging = Promise.withResolvers<number>();
  const paths = [1, 2, 3, 4, 5, 6].map((each) => `/${each}`);
  for (const path of paths) server.answers.set(path, () => hanging.promise);
  const { webhooks, counters, miss } = start(paths.map((path) => server.url(path)));
  miss("a");
  await server.until(4);
  expect(server.received).toHaveLength(4);
  hanging.resolve(200);
  await until(() => counters.delivered === 6);
  await webhooks.close();
});

test("a missing answer is a failure after 10 s", async () => {
  const hanging = Promise.withResolvers<number>();
  server.answers.set("/a", () => (server.at("/a").length === 1 ? hanging.promise : 200));
  const { webhooks, clock, counters, miss, afterFailures } = start([server.url("/a")]);
  miss("a");
  await server.until(1);
  clock.advance(9999);
  expect(counters.failed).toBe(0);
  clock.advance(1);
  await afterFailures(1);
  await until(() => counters.delivered === 1);
  hanging.resolve(200);
  await webhooks.close();
});

test("redirects are failures, and are not followed", async () => {
  server.answers.set("/a", 307);
  const { webhooks, counters, miss } = start([server.url("/a")]);
  miss("a");
  await until(() => counters.failed === 1);
  expect(server.received.map(({ path }) => path)).toEqual(["/a"]);
  await webhooks.close();
});

test("the oldest batch is dropped when too many wait, and a batch in flight is not", async () => {
  const hanging = Promise.withResolvers<number>();
  server.answers.set("/a", () => hanging.promise);
  const { webhooks, counters } = start([]);
  webhooks.configure([{ url: server.url("/a"), eventTypes: ["cache_miss"], isBatched: false }]);
  webhooks.cacheMiss("0");
  await server.until(1);
  for (let channel = 1; channel <= 10_004; channel += 1) webhooks.cacheMiss(String(channel));
  expect(counters.dropped).toBe(5);
  hanging.resolve(200);
  await server.until(3);
  const channels = server.received.map(({ events }) => events[0]?.channel);
  expect(channels.slice(0, 3)).toEqual(["0", "6", "7"]);
  webhooks.configure([]);
  await webhooks.close();
});

test("the waiting batches are bounded in bytes too", async () => {
  const hanging = Promise.withResolvers<number>();
  server.answers.set("/a", () => hanging.promise);
  const { webhooks, clock, counters } = start([]);
  webhooks.configure([{ url: server.url("/a"), eventTypes: ["client_event"], isBatched: true }]);
  for (let count = 0; count < 60; count += 1) {
    webhooks.clientEvent({ channel: "a", event: "b", data: "x".repeat(100_000), socketId: "1.2" });
  }
  clock.advance(50);
  // Two of these events fit into a batch, and 20 such batches into 4 MB.
  expect(counters.dropped).toBe(10);
  hanging.resolve(200);
  await until(() => counters.delivered === 20);
  await webhooks.close();
});

test("the waiting batches of all applications share a limit, and each application drops its own oldest", async () => {
  const waiting = { bytes: 0, maxBytes: 100_000 };
  const hanging = Promise.withResolvers<number>();
  for (const path of ["/a", "/b"]) server.answers.set(path, () => hanging.promise);
  const [busy, idle] = [start([server.url("/a")], { waiting }), start([server.url("/b")], { waiting })];
  idle.miss("idle");
  for (let count = 0; count < 400; count += 1) busy.miss(String(count));
  expect(waiting.bytes).toBeLessThanOrEqual(waiting.maxBytes);
  expect(busy.counters.dropped).toBeGreaterThan(200);
  expect(idle.counters.dropped).toBe(0);
  hanging.resolve(200);
  await Promise.all([busy.webhooks.close(), idle.webhooks.close()]);
  expect(channelsAt("/b")).toEqual(["idle"]);
  expect(channelsAt("/a").at(-1)).toBe("399");
  expect(waiting.bytes).toBe(0);
});

test("a kept connection that the server closed is not a failure", async () => {
  let answers = 0;
  const rude = await rawServer((socket) => {
    let requests = 0;
    socket.on("data", () => {
      requests += 1;
      if (requests > 1) return socket.destroy();
      answers += 1;
      return socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    });
  });
  const { webhooks, counters, miss } = start([rude.url]);
  for (let count = 1; count <= 3; count += 1) {
    miss(`cache-${count}`);
    await until(() => counters.delivered === count);
  }
  expect({ answers, failed: counters.failed }).toEqual({ answers: 3, failed: 0 });
  await webhooks.close();
  await rude.close();
});

test("an endless answer costs its connection, and not the memory", async () => {
  let closed = false;
  const endless = await rawServer((socket) => {
    const more = () => {
      if (!socket.destroyed) socket.write("x".repeat(65_536), more);
    };
    socket.on("close", () => (closed = true));
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n");
      more();
    });
  });
  const { webhooks, counters, miss } = start([endless.url]);
  miss("a");
  await until(() => counters.delivered === 1 && closed);
  await webhooks.close();
  await endless.close();
});

test("an answer with 2xx is a success even when its body never ends", async () => {
  const stalling = await rawServer((socket) => {
    socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"));
  });
  const { webhooks, clock, counters, miss } = start([stalling.url]);
  miss("a");
  await until(() => {
    clock.advance(100);
    return counters.delivered === 1;
  });
  await webhooks.close();
  await stalling.close();
});

test("an answer with 101 is a failure that gives up its place and its connection", async () => {
  let [answers, open] = [0, 0];
  const upgrading = await rawServer((socket) => {
    open += 1;
    socket.on("close", () => (open -= 1));
    socket.on("data", () => {
      answers += 1;
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    });
  });
  const urls = [1, 2, 3, 4].map((each) => `${upgrading.url}${each}`);
  const { webhooks, counters, miss, afterFailures } = start([...urls, server.url("/works")]);
  miss("a");
  await until(() => counters.delivered === 1);
  await afterFailures(4);
  await until(() => answers > 4 && open === 0);
  await webhooks.close();
  await upgrading.close();
});
