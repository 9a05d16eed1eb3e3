// Floods of HTTP/2 that a real edge must bear: they cost it neither its memory nor other clients their answers.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { LoneEdge } from "../../../tests/support/engines/lone-edge.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";

const MIB = 1024 ** 2;
const [HEADERS, RST_STREAM, SETTINGS, PING, CONTINUATION] = [1, 3, 4, 6, 9];
const [END_STREAM, END_HEADERS] = [1, 4];

/** What ends the connection of a client that does wrong. */
const GOAWAY = 7;

let lone: LoneEdge;

beforeAll(async () => {
  lone = await LoneEdge.start();
  lone.serve("a", () => new Response("a"));
  lone.serve("b", () => new Response("b"));
  await lone.route("a", ["a.localhost"]);
  await lone.route("b", ["b.localhost"]);
});

afterAll(async () => await lone.close());

function frame(type: number, flags: number, stream: number, payload: Uint8Array = new Uint8Array()): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** `GET / HTTP/2` of `a.localhost`, in the first words of HPACK's own table. */
const GET = Buffer.concat([Buffer.from([0x82, 0x86, 0x84, 0x01, 11]), Buffer.from("a.localhost")]);

const START = Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(SETTINGS, 0, 0)]);

/** A header of 3,900 bytes that the table keeps, and its repetition in one byte each. */
const KEPT = Buffer.concat([Buffer.from([0x40, 1, 0x78, 0x7f, 0xbd, 0x1d]), Buffer.alloc(3_900, "a")]);
const REPEATED = Buffer.alloc(8_000, 0xbe);

/** A header of 100 bytes. */
const SMALL = Buffer.concat([Buffer.from([0, 1, 0x78, 100]), Buffer.alloc(100, "a")]);

/** What a client sends with its count of frames, and whether the edge ends its connection for it. */
const FLOODS: [name: string, frames: number, part: (index: number) => Uint8Array, isEnded: boolean][] = [
  [
    "requests that are reset at once",
    20_000,
    (index) =>
      Buffer.concat([
        frame(HEADERS, END_STREAM | END_HEADERS, 2 * index + 1, GET),
        frame(RST_STREAM, 0, 2 * index + 1, Buffer.from([0, 0, 0, 8])),
      ]),
    false,
  ],
  [
    "more requests than may be open",
    2_000,
    (index) => frame(HEADERS, END_STREAM | END_HEADERS, 2 * index + 1, GET),
    false,
  ],
  [
    "headers without an end",
    2_000,
    (index) => (index === 0 ? frame(HEADERS, END_STREAM, 1, GET) : frame(CONTINUATION, 0, 1, SMALL)),
    true,
  ],
  [
    "a header that is repeated thousands of times",
    2,
    (index) =>
      frame(
        HEADERS,
        END_STREAM | END_HEADERS,
        2 * index + 1,
        Buffer.concat([GET, index === 0 ? KEPT : REPEATED]),
      ),
    true,
  ],
  ["pings", 50_000, () => frame(PING, 0, 0, Buffer.alloc(8)), false],
  ["settings", 50_000, () => frame(SETTINGS, 0, 0), false],
];

test.each(FLOODS)("%s", async (_name, frames, part, isEnded) => {
  const before = memoryBytes();
  const client = await opened();
  let received = Buffer.alloc(0);
  client.on("data", (bytes: Uint8Array) => void (received = Buffer.concat([received, bytes]).subarray(-64)));
  const closed = new Promise<void>((resolve) => client.once("close", () => resolve()));
  client.write(Buffer.concat([START, ...Array.from({ length: frames }, (_, index) => part(index))]));
  expect(await (await lone.get("b.localhost")).text()).toBe("b");
  if (isEnded) {
    await closed;
    expect(received.includes(Buffer.from([GOAWAY, 0, 0, 0, 0, 0]))).toBe(true);
  } else await until("the flood has left the client", () => client.writableLength === 0);
  expect(await (await lone.get("b.localhost")).text()).toBe("b");
  client.destroy();
  expect(memoryBytes() - before).toBeLessThan(64 * MIB);
});

async function opened(): Promise<Socket> {
  const socket = connect(lone.port, "127.0.0.1");
  socket.on("error", () => {});
  await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
  return socket;
}

/** The memory that the edge has in use. */
function memoryBytes(): number {
  const status = readFileSync(`/proc/${lone.engine.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1_024;
}
