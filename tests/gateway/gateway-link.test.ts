// The gateway and its link with the host, which is played by the test: whatever is told arrives, however it is cut, and is heeded.
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Socket } from "bun";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Gateway } from "../../src/gateway/gateway.ts";
import type { Entry, GatewayMessage, HostMessage } from "../../src/gateway/link.ts";
import { Loop, Peer } from "../support/loop.ts";
import { ownAddress } from "../support/own-address.ts";
import { freePort } from "../support/ports.ts";

/** A host that says what it is told to. */
class TestHost {
  readonly heard: GatewayMessage[] = [];
  gateway: Socket<null> | null = null;
  connections = 0;
  readonly #listener;
  #unsent = Buffer.alloc(0);

  constructor(path: string) {
    this.#listener = Bun.listen<null>({
      unix: path,
      data: null,
      socket: {
        open: (socket) => {
          this.gateway = socket;
          this.connections += 1;
        },
        data: (_, bytes) => {
          for (const line of bytes.toString().trimEnd().split("\n")) this.heard.push(JSON.parse(line));
        },
        drain: () => this.#flush(),
        close: () => {
          this.gateway = null;
        },
      },
    });
  }

  say(...messages: HostMessage[]): void {
    this.write(linesOf(...messages));
  }

  write(text: string): void {
    this.#unsent = Buffer.concat([this.#unsent, Buffer.from(text)]);
    this.#flush();
  }

  #flush(): void {
    const taken = this.gateway?.write(this.#unsent) ?? 0;
    this.#unsent = this.#unsent.subarray(Math.max(0, taken));
  }

  has(type: GatewayMessage["type"], id: string): boolean {
    return this.heard.some((message) => message.type === type && message.id === id);
  }

  stop(): void {
    this.#listener.stop(true);
  }
}

let folder: string;
let loop: Loop;
let host: TestHost;
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
  host = new TestHost(join(folder, "link"));
  readies = 0;
  complaints.length = 0;
  const settings = { linkSocket: join(folder, "link"), session: null, isInsecureAllowed: true };
  new Gateway(loop.reactor, settings, log, () => (readies += 1)).start();
  await loop.until(() => host.gateway !== null);
});
afterEach(() => {
  host.stop();
  loop.close();
  rmSync(folder, { recursive: true });
});

function entryOf(id: string, port: number, change: Partial<Entry> = {}): Entry {
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
    maxConnections: 100,
    sleepAfterSeconds: null,
    latestStart: null,
    ...change,
  };
}

/** All that a host says first. */
function greeting(...entries: Entry[]): HostMessage[] {
  return [
    { type: "entries", ids: entries.map(({ id }) => id) },
    ...entries.map((entry) => ({ type: "entry", entry }) as const),
    { type: "synced" },
  ];
}

function linesOf(...messages: HostMessage[]): string {
  return messages.map((message) => `${JSON.stringify(message)}\n`).join("");
}

/** Whether a client is answered at a port. */
async function isServed(port: number): Promise<boolean> {
  let peer: Peer;
  try {
    peer = Peer.connect(port);
  } catch {
    return false;
  }
  peer.send("PING\r\n");
  await loop.until(() => peer.receiveAll().received.length > 0 || peer.end !== null);
  const isAnswered = peer.text.startsWith("-NOAUTH");
  peer.close();
  return isAnswered;
}

/** A client that stays, and has asked something. */
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
  for (let at = 0; at < text.length; at += 97) {
    host.gateway?.write(text.subarray(at, at + 97));
    await loop.turn();
  }
  await loop.until(() => readies === 1);
  for (const port of ports) expect(await isServed(port)).toBe(true);
});

test("messages that come together are heeded one after the other", async () => {
  const [first, second] = [freePort(), freePort()];
  host.say(
    ...greeting(),
    { type: "entry", entry: entryOf("one", first) },
    { type: "entry", entry: entryOf("two", second) },
    { type: "gone", id: "one" },
    { type: "drain", id: "two", withinMs: 1_000 },
  );
  await loop.until(() => host.has("released", "one") && host.has("drained", "two"));
  expect([await isServed(first), readies]).toEqual([false, 1]);
});

test("each answer tells which question it is to", async () => {
  host.say(...greeting(entryOf("one", freePort(), { state: "draining" })), {
    type: "drain",
    id: "one",
    withinMs: 1_000,
    question: 1,
  });
  await loop.until(() => host.has("drained", "one"));
  host.say({ type: "detach", id: "one", question: 2 });
  await loop.until(() => host.has("detached", "one"));
  expect(host.heard).toEqual([
    { type: "drained", id: "one", question: 1 },
    { type: "detached", id: "one", question: 2 },
  ]);
});

test("a message of many thousand instances is taken in", async () => {
  const users = Array.from({ length: 4_000 }, (_, index) => ({
    name: `user-${index}`,
    verifier: "0".repeat(64),
  }));
  const port = freePort();
  host.say(...greeting(entryOf("one", port, { users })));
  await loop.until(() => readies === 1);
  expect(await isServed(port)).toBe(true);
});

test("a line that cannot be heeded leaves the others as they are", async () => {
  const port = freePort();
  host.write(`not JSON\n{"type":"entry"}\n${linesOf(...greeting(entryOf("one", port)))}`);
  await loop.until(() => readies === 1);
  expect(loop.faults.length).toBe(2);
  expect(await isServed(port)).toBe(true);
});

test("a line of the host's that is too long leaves out its instance alone", async () => {
  const [first, second] = [freePort(), freePort()];
  const users = [{ name: "app", verifier: "x".repeat(6 * 1024 ** 2) }];
  host.say(...greeting(entryOf("one", first, { users }), entryOf("two", second)));
  await loop.until(() => readies === 1);
  expect(complaints).toEqual(["a line of the host's is too long and was left out"]);
  expect([await isServed(first), await isServed(second)]).toEqual([false, true]);
  expect(host.connections).toBe(1);
});

test("an address is free when the host hears that it was released", async () => {
  const port = freePort();
  host.say(...greeting(entryOf("one", port)));
  await loop.until(() => readies === 1);
  const peer = Peer.connect(port);
  peer.send("PING\r\n");
  await loop.until(() => peer.text !== "");
  host.say({ type: "gone", id: "one" }, { type: "gone", id: "never heard of" });
  await loop.until(() => host.has("released", "one") && host.has("released", "never heard of"));
  expect(await isFree(port)).toBe(true);
  await loop.until(() => peer.receiveAll().end !== null);
  peer.close();
});

test("a link that was lost is found again, and what is not named any more is given up", async () => {
  const [first, second] = [freePort(), freePort()];
  host.say(...greeting(entryOf("one", first), entryOf("two", second)));
  await loop.until(() => readies === 1);
  host.gateway?.terminate();
  await loop.until(() => host.connections === 2);
  expect([await isServed(first), await isServed(second)]).toEqual([true, true]);
  host.say(...greeting(entryOf("two", second)));
  await loop.until(() => readies === 2);
  expect([await isServed(first), await isServed(second)]).toEqual([false, true]);
});

test("an address that somebody else has is told of, and had as soon as it is free", async () => {
  const [port, other] = [freePort(), freePort()];
  const server = createServer().listen(port, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  host.say(...greeting(entryOf("one", port), entryOf("two", other)));
  host.say({ type: "attend", id: "one" }, { type: "attend", id: "two" });
  await loop.until(() => host.has("attending", "two"));
  expect(complaints).toEqual(["an address cannot be had"]);
  expect(host.has("attending", "one")).toBe(false);
  await new Promise((resolve) => server.close(resolve));
  await loop.until(() => host.has("attending", "one"));
  expect(await isServed(port)).toBe(true);
});

test("an instance that has got another address is served there alone", async () => {
  const [former, next] = [freePort(), freePort()];
  host.say(...greeting(entryOf("one", former)));
  await loop.until(() => readies === 1);
  host.say({ type: "entry", entry: entryOf("one", next) }, ...greeting(entryOf("one", next)));
  await loop.until(() => readies === 2);
  expect([await isServed(former), await isServed(next)]).toEqual([false, true]);
});

test("whoever came from another machine is parted when the address is for this machine only", async () => {
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
