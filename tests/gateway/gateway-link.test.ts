// The gateway and its link with the host, which the test plays: every message arrives and takes effect, however it is
// cut.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { acceptForPassing, listenForPassing, passDescriptors } from "../../src/lib/descriptor-passing.ts";
import { sockets } from "../../src/lib/socket-calls.ts";
import { Gateway } from "../../src/gateway/clients/gateway.ts";
import type { HostMessage, Route } from "../../src/contracts/gateway-link.ts";
import { linesOf, LinkHost } from "../support/gateway/link-host.ts";
import { Loop, Peer } from "../support/gateway/loop.ts";
import { ownAddress } from "../support/pilvi/own-address.ts";
import { freePort } from "../support/pilvi/ports.ts";

let folder: string;
let loop: Loop;
let host: LinkHost;
let readies: number;
const complaints: string[] = [];
const log = {
  info: () => {},
  warn: () => {},
  error: (_: unknown, message: string) => complaints.push(message),
  child: () => log,
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "pilvi-link-"));
  loop = new Loop();
  host = new LinkHost(join(folder, "link"));
  readies = 0;
  complaints.length = 0;
  const settings = {
    linkSocket: join(folder, "link"),
    addressSocket: join(folder, "link-addresses"),
    certificates: null,
    isInsecureAllowed: true,
  };
  new Gateway(loop.pool, settings, log, () => (readies += 1)).start();
  await loop.until(() => host.gateway !== null);
});
afterEach(() => {
  host.stop();
  loop.close();
  rmSync(folder, { recursive: true });
});

function entryOf(id: string, port: number, change: Partial<Route> = {}): Route {
  return {
    id,
    protocol: "redis",
    address: "127.0.0.1",
    port,
    socket: join(folder, `${id}.sock`),
    engine: { name: "valkey", version: "8.0.1" },
    state: "asleep",
    lastError: null,
    users: [],
    mockNonce: null,
    maxConnections: 100,
    sleepAfterSeconds: null,
    latestStart: null,
    ...change,
  };
}

/** The first messages of a host. */
function greeting(...entries: Route[]): HostMessage[] {
  return [
    { type: "entries", ids: entries.map(({ id }) => id) },
    ...entries.map((entry) => ({ type: "entry", entry }) as const),
    { type: "synced" },
  ];
}

/** For how long a client waits for an answer that must not come. */
const WATCH_MS = 200;

/** Whether the gateway answers a client at a port, however late on a busy machine. */
async function isServed(port: number, patienceMs = Infinity): Promise<boolean> {
  let peer: Peer;
  try {
    peer = Peer.connect(port);
  } catch {
    return false;
  }
  peer.send("PING\r\n");
  const isOver = () => peer.receiveAll().received.length > 0 || peer.end !== null;
  const giveUpAt = performance.now() + patienceMs;
  await loop.until(() => isOver() || performance.now() > giveUpAt);
  const isAnswered = peer.text.startsWith("-NOAUTH");
  peer.close();
  return isAnswered;
}

/** Whether a client at a port gets no answer for far longer than an answer takes. */
const isUnserved = async (port: number) => !(await isServed(port, WATCH_MS));

/** A client that has asked something and stays connected. */
function openClient(address: string, port: number) {
  const socket = connect(port, address);
  const client = { socket, answers: 0, isClosed: false, ask: () => socket.write("PING\r\n") };
  socket.on("data", () => (client.answers += 1));
  socket.on("close", () => (client.isClosed = true));
  client.ask();
  return client;
}

/** Whether the test can listen at a port. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  const isListening = await new Promise<boolean>((resolve) => {
    server.once("listening", () => resolve(true)).once("error", () => resolve(false));
  });
  if (isListening) await new Promise((resolve) => server.close(resolve));
  return isListening;
}

test("messages are understood wherever they are cut", async () => {
  const ports = [freePort(), freePort(), freePort()];
  const entries = ports.map((port, index) => entryOf(`böse-${index}`, port, { lastError: "Größe: 1 €" }));
  const text = Buffer.from(linesOf(...greeting(...entries)));
  for (const entry of entries) host.hold(entry);
  for (let at = 0; at < text.length; at += 97) {
    host.gateway?.write(text.subarray(at, at + 97));
    await loop.turn();
  }
  await loop.until(() => readies === 1);
  for (const port of ports) expect(await isServed(port)).toBe(true);
});

test("messages that arrive together take effect in order", async () => {
  const [first, second] = [freePort(), freePort()];
  host.say(
    ...greeting(),
    { type: "entry", entry: entryOf("one", first) },
    { type: "entry", entry: entryOf("two", second) },
    { type: "gone", id: "one" },
    { type: "drain", id: "two", withinMs: 1_000 },
  );
  await loop.until(() => host.has("released", "one") && host.has("drained", "two"));
  expect([await isUnserved(first), readies]).toEqual([true, 1]);
});

test("each answer names the question it belongs to", async () => {
  host.say(...greeting(entryOf("one", freePort(), { state: "draining" })), {
    type: "drain",
    id: "one",
    withinMs: 1_000,
    question: 1,
  });
  await loop.until(() => host.has("drained", "one"));
  host.say({ type: "detach", id: "one", question: 2 });
  await loop.until(() => host.has("detached", "one"));
  expect(host.answers).toEqual([
    { type: "drained", id: "one", question: 1 },
    { type: "detached", id: "one", question: 2 },
  ]);
});

test("a message of many thousand instances is accepted", async () => {
  const users = Array.from({ length: 4_000 }, (_, index) => ({
    name: `user-${index}`,
    verifier: "0".repeat(64),
  }));
  const port = freePort();
  host.say(...greeting(entryOf("one", port, { users })));
  await loop.until(() => readies === 1);
  expect(await isServed(port)).toBe(true);
});

test("a line that cannot be applied leaves the other instances as they are", async () => {
  const port = freePort();
  host.hold(entryOf("one", port));
  host.write(`not JSON\n{"type":"entry"}\n${linesOf(...greeting(entryOf("one", port)))}`);
  await loop.until(() => readies === 1);
  expect(loop.faults.length).toBe(2);
  expect(await isServed(port)).toBe(true);
});

test("an unknown message that names an instance is refused, and is not taken for another message", async () => {
  const entry = entryOf("one", freePort(), { state: "draining" });
  const drain = { type: "drain", id: "one", withinMs: 1_000, question: 1 } as const;
  host.say(...greeting(entry));
  host.write('{"type":"explode","id":"one"}\n{"type":"detach","id":"one","gently":true}\n');
  host.say(drain);
  await loop.until(() => host.has("drained", "one"));
  expect(host.answers).toEqual([{ type: "drained", id: "one", question: 1 }]);
  expect(loop.faults.map(String)).toEqual([
    expect.stringContaining("type has an unknown value"),
    expect.stringContaining("gently is unknown"),
  ]);
});

test("a line that is too long is dropped for its instance alone", async () => {
  const [first, second] = [freePort(), freePort()];
  const users = [{ name: "app", verifier: "x".repeat(6 * 1024 ** 2) }];
  host.say(...greeting(entryOf("one", first, { users }), entryOf("two", second)));
  await loop.until(() => readies === 1);
  expect(complaints).toEqual(["a line of the host's is too long and was left out"]);
  expect([await isUnserved(first), await isServed(second)]).toEqual([true, true]);
  expect(host.connections).toBe(1);
});

test("an address is free when the host learns that it was released", async () => {
  const port = freePort();
  host.say(...greeting(entryOf("one", port)));
  await loop.until(() => readies === 1);
  const peer = Peer.connect(port);
  peer.send("PING\r\n");
  await loop.until(() => peer.text !== "");
  host.say({ type: "gone", id: "one" }, { type: "gone", id: "unknown" });
  await loop.until(() => host.has("released", "one") && host.has("released", "unknown"));
  expect(await isFree(port)).toBe(true);
  await loop.until(() => peer.receiveAll().end !== null);
  peer.close();
});

test("a lost link is restored, and instances that the host no longer names are given up", async () => {
  const [first, second] = [freePort(), freePort()];
  host.say(...greeting(entryOf("one", first), entryOf("two", second)));
  await loop.until(() => readies === 1);
  host.gateway?.terminate();
  await loop.until(() => host.connections === 2);
  expect([await isServed(first), await isServed(second)]).toEqual([true, true]);
  host.say(...greeting(entryOf("two", second)));
  await loop.until(() => readies === 2);
  expect([await isUnserved(first), await isServed(second)]).toEqual([true, true]);
});

test("clients reach a socket that arrives before its instance, and a socket that arrives after it", async () => {
  const [early, late] = [entryOf("early", freePort()), entryOf("late", freePort())];
  host.hold(early);
  host.write(linesOf(...greeting(late)));
  await loop.until(() => readies === 1);
  host.write(linesOf({ type: "entry", entry: early }));
  expect(await isServed(early.port)).toBe(true);
  expect(await isUnserved(late.port)).toBe(true);
  host.hold(late);
  expect(await isServed(late.port)).toBe(true);
});

test("a killed host gets its addresses back, and their clients are served meanwhile", async () => {
  const entry = entryOf("one", freePort());
  host.say(...greeting(entry));
  await loop.until(() => readies === 1);
  expect(await isServed(entry.port)).toBe(true);
  host.stop();
  await loop.rest();
  expect([await isServed(entry.port), await isFree(entry.port)]).toEqual([true, false]);
  host = new LinkHost(join(folder, "link"));
  await loop.until(() => host.received.length > 0);
  host.say(...greeting(entry));
  await loop.until(() => readies === 2);
  expect([await isServed(entry.port), await isFree(entry.port)]).toEqual([true, false]);
  host.say({ type: "gone", id: "one" });
  await loop.until(() => host.has("released", "one"));
  expect(await isFree(entry.port)).toBe(true);
});

test("a host of another version gets no messages, is logged once, and is looked for again", async () => {
  const entry = entryOf("one", freePort());
  host.say(...greeting(entry));
  await loop.until(() => readies === 1);
  expect(await isServed(entry.port)).toBe(true);
  host.stop();
  host = new LinkHost(join(folder, "link"), '{"type":"hello","version":99}\n{"type":"entries","ids":[]}\n');
  await loop.until(() => host.connections === 2);
  expect(host.received).toEqual([]);
  expect(complaints).toEqual(["the host cannot be understood"]);
  expect(await isServed(entry.port)).toBe(true);
  host.stop();
  host = new LinkHost(join(folder, "link"));
  await loop.until(() => host.received.length > 0);
  host.say(...greeting(entry));
  await loop.until(() => readies === 2);
  expect(await isServed(entry.port)).toBe(true);
});

test("a host that passes sockets in another version is logged once and gets no sockets, and clients are served on", async () => {
  const entry = entryOf("one", freePort());
  host.say(...greeting(entry));
  await loop.until(() => readies === 1);
  expect(await isServed(entry.port)).toBe(true);
  const path = join(folder, "link-addresses");
  host.addresses.close();
  rmSync(path);
  const listener = listenForPassing(path);
  host.dismiss();
  for (const _ of [1, 2]) {
    let fd: number | null = null;
    await loop.until(() => (fd ??= acceptForPassing(listener)) !== null);
    const others = { text: '{"type":"hello","version":99}\n', descriptors: [listener] };
    expect(passDescriptors(fd ?? -1, others)).toBe("sent");
    await loop.until(() => host.gateway === null);
    sockets.close(fd ?? -1);
    host.received.length = 0;
  }
  expect(complaints).toEqual(["the host cannot be understood"]);
  expect(await isServed(entry.port)).toBe(true);
  sockets.close(listener);
});

test("an instance with a new address is served there alone", async () => {
  const [former, next] = [freePort(), freePort()];
  host.say(...greeting(entryOf("one", former)));
  await loop.until(() => readies === 1);
  host.say(...greeting(entryOf("one", next)));
  await loop.until(() => readies === 2);
  expect([await isUnserved(former), await isServed(next)]).toEqual([true, true]);
});

test("clients from other machines are disconnected when the address becomes local only", async () => {
  const port = freePort();
  const elsewhere = await ownAddress();
  host.say(...greeting(entryOf("one", port, { address: "0.0.0.0" })));
  await loop.until(() => readies === 1);
  const [near, far] = [openClient("127.0.0.1", port), openClient(elsewhere.address, port)];
  await loop.until(() => near.answers > 0 && far.answers > 0);
  host.say({ type: "entry", entry: entryOf("one", port, { address: "0.0.0.0", state: "failed" }) });
  far.ask();
  await loop.until(() => far.answers > 1);
  host.say({ type: "entry", entry: entryOf("one", port) });
  await loop.until(() => far.isClosed);
  near.ask();
  await loop.until(() => near.answers > 1);
  near.socket.destroy();
  await elsewhere.release();
});
