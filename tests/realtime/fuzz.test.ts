// Random bytes and requests from fixed seeds, after which the server has to serve as before.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { randomOf } from "../../src/realtime/test-support.ts";
import { mutated, randomBytes } from "../support/wire/mutated-bytes.ts";
import { until } from "../support/pilvi/pilvi.ts";
import { frameOf, handshakeOf, messageOf, OPCODE, RawWebSocket } from "../support/wire/raw-websocket.ts";
import { APP, startRealtime, type TestRealtime } from "../support/engines/realtime.ts";

const ROUNDS = 300;
/** How many are tried at the same time. */
const AT_ONCE = 100;
/** How long a server may take to answer invalid bytes, or to wait for more of them. */
const PATIENCE_MS = 250;

let realtime: TestRealtime;
let witness: RawWebSocket;
let pid: number;

beforeAll(async () => {
  realtime = await startRealtime();
  ({ pid } = realtime);
  witness = await RawWebSocket.greeted(realtime.port);
  await witness.subscribe("news");
});

afterAll(async () => {
  witness.destroy();
  await realtime.close();
});

/** Writes bytes and ends once the server has ended, or its time is over. */
function throwAt(bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port: realtime.port }, () => socket.write(bytes));
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.on("data", () => undefined);
    socket.on("error", () => undefined);
    socket.on("close", () => resolve());
  });
}

async function throwAll(make: (round: number) => Buffer): Promise<void> {
  for (let round = 0; round < ROUNDS; round += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => throwAt(make(round + index))));
}

/** The same process serves the same client, and counts no other client any more. */
async function expectServed(): Promise<void> {
  expect(await witness.isServed()).toBeTrue();
  const newcomer = await RawWebSocket.greeted(realtime.port);
  await newcomer.subscribe("news");
  newcomer.destroy();
  await until("only the witness is left", async () => (await realtime.stats()).connections === 1);
  expect(realtime.pid).toBe(pid);
  expect(realtime.log).not.toContain('"level":"error"');
}

describe.each([11, 12])("seed %i", (seed) => {
  test("bytes instead of a handshake leave the server serving", async () => {
    const random = randomOf(seed);
    await throwAll(() => randomBytes(random, 400));
    await expectServed();
  });

  test("changed handshakes leave the server serving", async () => {
    const random = randomOf(seed);
    await throwAll(() => mutated(random, Buffer.from(handshakeOf())));
    await expectServed();
  });

  test("frames of random bytes and changed valid frames leave the server serving", async () => {
    const random = randomOf(seed);
    const valid = Buffer.concat([
      messageOf("pusher:subscribe", { channel: "presence-a", auth: "x:y", channel_data: '{"user_id":1}' }),
      messageOf("pusher:subscribe", { channel: "cache-a" }),
      frameOf(OPCODE.text, '{"event":"pus', { isLast: false }),
      frameOf(OPCODE.ping, "in between"),
      frameOf(OPCODE.continuation, 'her:ping","data":{}}'),
      messageOf("client-x", {}, "private-a"),
      messageOf("pusher:unsubscribe", { channel: "cache-a" }),
    ]);
    await throwAll((round) => {
      const frames = round % 3 === 0 ? randomBytes(random, 2_000) : mutated(random, valid);
      return Buffer.concat([Buffer.from(handshakeOf()), frames]);
    });
    await expectServed();
  });

  test("random requests of the HTTP API leave the server serving", async () => {
    const random = randomOf(seed);
    const body = '{"name":"x","channels":["news"],"data":"{}"}';
    const request = `POST /apps/${APP.appId}/events?auth_key=${APP.key}&auth_timestamp=1&auth_version=1.0&auth_signature=x HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    await throwAll(() => mutated(random, Buffer.from(request)));
    await expectServed();
  });
});

test.each([
  ["a host that is none", "GET / HTTP/1.1\r\nHost: a b<>\r\n\r\n"],
  ["no host", "GET /app/x?protocol=7 HTTP/1.1\r\n\r\n"],
  ["a path that is no URL", "GET //[ HTTP/1.1\r\nHost: x\r\n\r\n"],
  ["a URL for a path", `GET http://[/ HTTP/1.1\r\nHost: x\r\n\r\n`],
  ["a handshake whose host is none", handshakeOf(undefined, { Host: "a b:c" })],
  ["a handshake whose path is no URL", handshakeOf("//[?protocol=7")],
  ["a path with percent signs", handshakeOf("/app/%ff%?protocol=%")],
  ["an endless header", `GET / HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(200_000)}`],
])("%s", async (_, request) => {
  await throwAt(Buffer.from(request));
  await expectServed();
});
