// Hostile clients and publishers of a WebSocket cluster: under any message, it serves others in time and stays as small
// as it was.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { createHash, createHmac } from "node:crypto";
import { randomOf } from "../../src/realtime/test-support.ts";
import { mutated } from "../support/wire/mutated-bytes.ts";
import { until } from "../support/pilvi/pilvi.ts";
import { frameOf, handshakeOf, messageOf, OPCODE, RawWebSocket } from "../support/wire/raw-websocket.ts";
import { textOf, type Part } from "../support/wire/text-parts.ts";
import { APP, startRealtime, type TestRealtime } from "../support/engines/realtime.ts";
import attacks from "./data/realtime.json";

const MIB = 1024 ** 2;
const VICTIMS = 5;
/** Attackers that send the same at the same time. */
const ATTACKERS = 20;
/** Garbage that is not collected yet, beside the memory held for attackers that are still connected. */
const MAX_GROWTH_BYTES = 250 * MIB;
/** The longest wait of a victim on a machine that the attack keeps busy as well. */
const PATIENCE_MS = 10_000;

/** A text in parts. `times` sends the text so often, with its number in place of each `#`. */
interface Attack {
  name: string;
  parts: Part[];
  times?: number;
  /** Sent after each repetition. */
  then?: string;
  /** The path in the HTTP API; `events` when left out. */
  path?: string;
}

const messages = attacks.messages as Attack[];
const bodies = attacks.bodies as Attack[];
const { seeds, rounds, messages: valid } = attacks.mutations;

let server: TestRealtime;
let victims: RawWebSocket[];
let attackers: RawWebSocket[] = [];
let pid: number;
let bytesBefore: number;

beforeAll(async () => {
  server = await startRealtime();
  victims = await Promise.all(Array.from({ length: VICTIMS }, () => RawWebSocket.greeted(server.port)));
  for (const victim of victims) await victim.subscribe("news");
  bytesBefore = server.residentBytes();
  ({ pid } = server);
});

afterEach(() => {
  for (const attacker of attackers.splice(0)) attacker.destroy();
});

afterAll(async () => {
  for (const victim of victims) victim.destroy();
  await server.close();
});

for (const attack of messages) {
  test(`clients that send ${attack.name} harm no other client`, async () => {
    attackers = await Promise.all(Array.from({ length: ATTACKERS }, () => RawWebSocket.greeted(server.port)));
    const frames = framesOf(attack);
    for (const attacker of attackers) {
      attacker.write(messageOf("pusher:subscribe", stageOf(attacker)));
      attacker.write(frames);
    }
    await expectServed();
    await expectAttackersDone();
  });
}

for (const attack of bodies) {
  test(`publishes with ${attack.name} are refused and harm no client`, async () => {
    const statuses = await Promise.all(
      Array.from({ length: ATTACKERS }, () => send(attack.path ?? "events", textOf(attack.parts))),
    );
    await expectServed();
    // A connection that is cut while its body is sent has no status.
    for (const status of statuses) expect([0, 400, 413]).toContain(status);
  });
}

test.each(seeds)("messages with changed bytes harm no other client, seed %i", async (seed) => {
  const random = randomOf(seed);
  for (let round = 0; round < rounds; round += ATTACKERS) {
    attackers = Array.from({ length: ATTACKERS }, () => new RawWebSocket(server.port));
    for (const attacker of attackers) {
      const frames = valid.map((text) => frameOf(OPCODE.text, text));
      // Half of the messages have their text changed and arrive as whole frames; the others have any byte changed.
      const isWhole = random() < 0.5;
      const bytes = isWhole
        ? Buffer.concat(valid.map((text) => frameOf(OPCODE.text, mutated(random, Buffer.from(text)))))
        : mutated(random, Buffer.concat(frames));
      attacker.write(Buffer.concat([Buffer.from(handshakeOf()), bytes]));
    }
    await until("all are answered", () => attackers.every(({ head, isEnded }) => isEnded || head !== null));
    for (const attacker of attackers.splice(0)) attacker.destroy();
  }
  await expectServed();
  await expectAttackersDone();
});

/** Every victim receives an event in time, and the process is the same. */
async function expectServed(): Promise<void> {
  const mark = Bun.randomUUIDv7();
  await server.pusher().trigger("news", "mark", mark);
  await until(
    "all victims have the event",
    () => victims.every(({ events }) => JSON.stringify(events.at(-1) ?? "").includes(mark)),
    PATIENCE_MS,
  );
  for (const victim of victims) victim.frames.length = 0;
  expect(server.pid).toBe(pid);
  expect(server.log).not.toContain('"level":"error"');
}

/** No memory of the attackers is kept once they have disconnected. */
async function expectAttackersDone(): Promise<void> {
  for (const attacker of attackers.splice(0)) attacker.destroy();
  await until("the victims alone are left", async () => (await server.stats()).connections === VICTIMS);
  const { body } = await get("channels");
  expect(JSON.parse(body)).toEqual({ channels: { news: {} } });
  expect(server.residentBytes() - bytesBefore).toBeLessThan(MAX_GROWTH_BYTES);
}

function framesOf(attack: Attack): Buffer {
  const { times = 1, then } = attack;
  const frames: Buffer[] = [];
  for (let index = 0; index < times; index += 1) {
    frames.push(frameOf(OPCODE.text, textOf(attack.parts).replaceAll("#", String(index))));
    if (then !== undefined) frames.push(frameOf(OPCODE.text, then));
  }
  return Buffer.concat(frames);
}

/** The signature that lets a client onto the private channel on which clients' events are sent. */
function stageOf({ socketId }: RawWebSocket): { channel: string; auth: string } {
  const channel = "private-stage";
  return { channel, auth: `${APP.key}:${hmac(`${socketId}:${channel}`)}` };
}

/** Publishes a signed body. @returns the status, 0 when the connection was cut. */
async function send(path: string, body: string): Promise<number> {
  const md5 = createHash("md5").update(body).digest("hex");
  const response = await fetch(signedUrl("POST", path, `&body_md5=${md5}`), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
    keepalive: false,
  }).catch(() => null);
  await response?.arrayBuffer().catch(() => null);
  return response?.status ?? 0;
}

async function get(path: string): Promise<{ body: string }> {
  const response = await fetch(signedUrl("GET", path, ""));
  return { body: await response.text() };
}

function signedUrl(method: string, path: string, more: string): string {
  const now = Math.floor(Date.now() / 1000);
  const query = `auth_key=${APP.key}&auth_timestamp=${now}&auth_version=1.0${more}`;
  const full = `/apps/${APP.appId}/${path}`;
  return `${server.url}${full}?${query}&auth_signature=${hmac(`${method}\n${full}\n${query}`)}`;
}

function hmac(text: string): string {
  return createHmac("sha256", APP.secret).update(text).digest("hex");
}
