// The corners of RFC 6455, against a real server with hand-made frames.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { MAX_PAYLOAD_BYTES } from "../../src/contracts/realtime.ts";
import { until } from "../support/pilvi/pilvi.ts";
import {
  frameOf,
  handshakeOf,
  messageOf,
  OPCODE,
  RawWebSocket,
  type RawOptions,
} from "../support/wire/raw-websocket.ts";
import { startRealtime, type TestRealtime } from "../support/engines/realtime.ts";

const MAX_MESSAGE_BYTES = 10_000;
const PING = JSON.stringify({ event: "pusher:ping", data: {} });

let realtime: TestRealtime;
const clients: RawWebSocket[] = [];

beforeAll(async () => {
  realtime = await startRealtime({ maxMessageBytes: MAX_MESSAGE_BYTES });
});

afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
});

afterAll(() => realtime.close());

async function greeted(options: RawOptions = {}): Promise<RawWebSocket> {
  const client = await RawWebSocket.greeted(realtime.port, options);
  clients.push(client);
  return client;
}

async function pongs(client: RawWebSocket, count: number): Promise<void> {
  await until(
    `${count} pongs`,
    () => client.events.filter(({ event }) => event === "pusher:pong").length === count,
  );
}

/** How often the server has sent a ping of RFC 6455. */
function pingsOf({ frames }: RawWebSocket): number {
  return frames.filter(({ opcode }) => opcode === OPCODE.ping).length;
}

/** A ping of the protocol with so many bytes. */
function ofBytes(length: number): string {
  const frame = { event: "pusher:ping", data: "" };
  return JSON.stringify({ ...frame, data: "x".repeat(length - JSON.stringify(frame).length) });
}

function textOf(bytes: number[]): Buffer {
  return frameOf(OPCODE.text, Buffer.from(bytes));
}

/** A close frame. */
function closing(code: number, reason = ""): Buffer {
  const payload = Buffer.alloc(2 + Buffer.byteLength(reason));
  payload.writeUInt16BE(code, 0);
  payload.write(reason, 2);
  return frameOf(OPCODE.close, payload);
}

describe("the handshake", () => {
  test("is answered with the key of RFC 6455's own example", async () => {
    const client = await greeted();
    expect(client.head).toMatch(/^HTTP\/1.1 101 /);
    expect(client.head).toMatch(/sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/i);
    expect(client.head).not.toMatch(/sec-websocket-extensions/i);
  });

  test("may come together with the first frames", async () => {
    const client = await greeted({
      more: Buffer.concat([frameOf(OPCODE.text, PING), frameOf(OPCODE.text, PING)]),
    });
    await pongs(client, 2);
  });

  test("may come byte by byte, as may frames", async () => {
    const client = new RawWebSocket(realtime.port);
    clients.push(client);
    const all = Buffer.concat([Buffer.from(handshakeOf()), frameOf(OPCODE.text, PING)]);
    for (const byte of all) {
      client.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await pongs(client, 1);
  });

  test.each([
    { "Sec-WebSocket-Key": "" },
    { "Sec-WebSocket-Key": "short" },
    { "Sec-WebSocket-Version": "12" },
    { Upgrade: "h2c" },
  ] as Record<string, string>[])("with %p gets no WebSocket", async (headers) => {
    const client = await RawWebSocket.connect(realtime.port, { headers });
    clients.push(client);
    expect(client.head).not.toMatch(/^HTTP\/1.1 101 /);
    expect(client.events).toEqual([]);
  });
});

describe("a message", () => {
  test("may come in fragments, with control frames between them", async () => {
    const client = await greeted();
    const [a, b, c] = [PING.slice(0, 3), PING.slice(3, 20), PING.slice(20)];
    client.write(frameOf(OPCODE.text, a, { isLast: false }));
    client.write(frameOf(OPCODE.ping, "between"));
    client.write(frameOf(OPCODE.continuation, b, { isLast: false }));
    client.write(frameOf(OPCODE.pong, ""));
    client.write(frameOf(OPCODE.continuation, "", { isLast: false }));
    client.write(frameOf(OPCODE.continuation, c));
    await pongs(client, 1);
    const pong = client.frames.find(({ opcode }) => opcode === OPCODE.pong);
    expect(pong?.payload.toString()).toBe("between");
  });

  test("may have a character that is cut by its fragments", async () => {
    const client = await greeted();
    const bytes = Buffer.from(JSON.stringify({ event: "pusher:ping", data: "😀" }));
    const middle = bytes.indexOf(Buffer.from("😀")) + 2;
    client.write(frameOf(OPCODE.text, bytes.subarray(0, middle), { isLast: false }));
    client.write(frameOf(OPCODE.continuation, bytes.subarray(middle)));
    await pongs(client, 1);
  });

  test("may be one of many in a packet", async () => {
    const client = await greeted();
    client.write(Buffer.concat(Array.from({ length: 500 }, () => frameOf(OPCODE.text, PING))));
    await pongs(client, 500);
  });

  test("of binary data is refused, and the connection stays", async () => {
    const client = await greeted();
    client.write(frameOf(OPCODE.binary, PING));
    await client.event("pusher:error");
    expect(await client.isServed()).toBeTrue();
  });

  test("of the allowed length is read, and a longer message closes with 1009", async () => {
    const client = await greeted();
    client.write(frameOf(OPCODE.text, ofBytes(MAX_MESSAGE_BYTES)));
    await pongs(client, 1);
    client.write(frameOf(OPCODE.text, ofBytes(MAX_MESSAGE_BYTES + 1)));
    expect(await client.closed()).toBe(1009);
  });

  test("is measured in bytes, not characters", async () => {
    const client = await greeted();
    client.write(frameOf(OPCODE.text, JSON.stringify({ event: "pusher:ping", data: "€".repeat(3_400) })));
    expect(await client.closed()).toBe(1009);
  });

  test.each([MAX_PAYLOAD_BYTES + 1, 300_000, 2 ** 31, 2 ** 40])(
    "that claims %i bytes closes with 1009",
    async (length) => {
      const client = await greeted();
      const head = Buffer.alloc(14);
      head[0] = 0x81;
      head[1] = 0xff;
      head.writeBigUInt64BE(BigInt(length), 2);
      client.write(head);
      await client.closed();
      expect(client.closeCode).toBe(1009);
      expect(client.events.map(({ event }) => event)).toEqual(["pusher:connection_established"]);
    },
  );

  test("whose fragments become too long together closes with 1009", async () => {
    const client = await greeted();
    client.write(frameOf(OPCODE.text, "x".repeat(60_000), { isLast: false }));
    for (let i = 0; i < 5; i++)
      client.write(frameOf(OPCODE.continuation, "x".repeat(60_000), { isLast: false }));
    expect(await client.closed()).toBe(1009);
  });
});

describe("the server closes with", () => {
  test.each([
    ["a frame that is not masked", frameOf(OPCODE.text, PING, { isMasked: false }), 1002],
    ["the first reserved bit", frameOf(OPCODE.text, PING, { reserved: 4 }), 1002],
    ["the second reserved bit", frameOf(OPCODE.text, PING, { reserved: 2 }), 1002],
    ["the third reserved bit", frameOf(OPCODE.text, PING, { reserved: 1 }), 1002],
    ["an opcode that is reserved", frameOf(3, PING), 1002],
    ["a control opcode that is reserved", frameOf(11, ""), 1002],
    ["a fragment of nothing", frameOf(OPCODE.continuation, PING), 1002],
    [
      "a message within another",
      Buffer.concat([frameOf(OPCODE.text, "{", { isLast: false }), frameOf(OPCODE.text, PING)]),
      1002,
    ],
    ["a fragmented ping", frameOf(OPCODE.ping, "", { isLast: false }), 1002],
    ["a ping of 126 bytes", frameOf(OPCODE.ping, "x".repeat(126)), 1002],
    ["a byte that no character has", textOf([0x22, 0xff, 0x22]), 1007],
    ["half a character", textOf([0x22, 0xc3, 0x22]), 1007],
    ["a character that is too long", textOf([0x22, 0xc0, 0x80, 0x22]), 1007],
    ["half a pair", textOf([0x22, 0xed, 0xa0, 0x80, 0x22]), 1007],
    ["a character beyond the last", textOf([0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]), 1007],
  ])("its code after %s", async (_, bytes, code) => {
    const client = await greeted();
    client.write(bytes);
    const given = await client.closed();
    expect(given).toBe(code);
    expect(client.events.map(({ event }) => event)).toEqual(["pusher:connection_established"]);
  });
});

describe("a client that closes", () => {
  test.each([1000, 1001, 1003, 3000, 4000, 4999])("with %i is answered with the same", async (code) => {
    const client = await greeted();
    client.write(closing(code, "bye"));
    expect(await client.closed()).toBe(code);
  });

  test("without a code is answered without one", async () => {
    const client = await greeted();
    client.write(frameOf(OPCODE.close, ""));
    await client.closed();
    expect(client.closeCode).toBeNull();
  });

  test.each([
    ["code 0", closing(0)],
    ["code 999", closing(999)],
    ["code 1004", closing(1004)],
    ["code 1005", closing(1005)],
    ["code 1006", closing(1006)],
    ["code 5000", closing(5000)],
    ["one byte", frameOf(OPCODE.close, "x")],
    ["a reason that is not UTF-8", frameOf(OPCODE.close, Buffer.from([0x03, 0xe8, 0xff]))],
  ])("with %s is gone as well", async (_, bytes) => {
    const client = await greeted();
    client.write(bytes);
    await client.closed();
    expect(client.closeCode).not.toBe(1005);
    expect(client.closeCode).not.toBe(1006);
  });

  test("is not read any more", async () => {
    const client = await greeted();
    client.write(Buffer.concat([closing(1000), messageOf("pusher:subscribe", { channel: "late" })]));
    await client.closed();
    expect(client.events).toHaveLength(1);
  });
});

describe("a client's sign of life", () => {
  test("may be a pong of RFC 6455, after which the next ping follows the next silence", async () => {
    const server = await startRealtime({ pingIntervalSeconds: 1 });
    try {
      const client = await RawWebSocket.greeted(server.port);
      clients.push(client);
      for (let asked = 1; asked <= 3; asked += 1) {
        await until(`it is asked ${asked} times`, () => pingsOf(client) === asked);
        client.write(frameOf(OPCODE.pong, client.frames.at(-1)?.payload ?? ""));
      }
      expect(client.events.filter(({ event }) => event === "pusher:ping")).toHaveLength(3);
      expect(client.isEnded).toBeFalse();
    } finally {
      await server.close();
    }
  });
});

test("a refused client that stays connected is disconnected", async () => {
  const client = await RawWebSocket.connect(realtime.port, { path: "/app/unknown?protocol=7" });
  clients.push(client);
  expect(await client.closed()).toBe(4001);
  expect(client.events).toEqual([]);
  // The client never ends its own side: the server's writes must at some time meet a closed socket.
  const wasReset = new Promise<void>((resolve) => void client.socket.once("error", () => resolve()));
  const knocking = setInterval(() => client.write(frameOf(OPCODE.ping, "")), 100);
  await wasReset.finally(() => clearInterval(knocking));
});

test("all clients are disconnected in the end, and the server logged no error", async () => {
  await until("nobody is connected", async () => (await realtime.stats()).connections === 0);
  expect(realtime.log).not.toContain('"level":"error"');
});
