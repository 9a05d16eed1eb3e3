// Clients of a MySQL address that are slow, broken or of another protocol: they wake nothing and harm nobody.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { TestMariaDb } from "../support/engines/mariadb.ts";
import { MysqlGateway } from "../support/gateway/mysql-gateway.ts";
import {
  fixedPart,
  framed,
  handshakeResponse,
  nativeToken,
  RawMysql,
  saltOf,
  type RawPacket,
} from "../support/wire/mysql-raw.ts";
import { until } from "../support/pilvi/pilvi.ts";

const SEED = 20_260_301;
const FUZZ_ROUNDS = 400;

let server: TestMariaDb;
let gateway: MysqlGateway;

beforeAll(async () => {
  server = await TestMariaDb.start();
  await server.admin("create user app@'%' identified by 'secret'");
});
afterAll(() => server.stop());

beforeEach(async () => {
  gateway = new MysqlGateway(server);
  await gateway.sleep();
});
afterEach(async () => {
  await gateway.close();
  expect(gateway.faults).toEqual([]);
});

/** A client that has read the greeting. */
async function greeted(address: number | string = gateway.port): Promise<{ raw: RawMysql; salt: Buffer }> {
  const raw = new RawMysql(address);
  const { payload } = await raw.expectPacket();
  return { raw, salt: saltOf(payload) };
}

/** All bytes that a client receives until its connection ends. */
async function lastWords(raw: RawMysql): Promise<RawPacket[]> {
  const words: RawPacket[] = [];
  for (let packet = await raw.packet(); packet !== null; packet = await raw.packet()) words.push(packet);
  return words;
}

test("a login that arrives byte by byte is accepted", async () => {
  const { raw, salt } = await greeted();
  const proof = nativeToken("secret", salt);
  const bytes = framed(1, handshakeResponse({ user: "app", proof, attributes: { program_name: "slow" } }));
  for (const byte of bytes) {
    await raw.write(Buffer.of(byte));
    await gateway.turned();
  }
  const { sequence, payload } = await raw.expectPacket();
  expect([sequence, payload[0]]).toEqual([2, 0]);
  expect(gateway.wakes.map(({ application }) => application)).toEqual(["slow"]);
  raw.close();
});

test("a login and the first commands may arrive together, cut anywhere", async () => {
  for (const cut of [3, 4, 5, 60, 80, 90, 95]) {
    const { raw, salt } = await greeted();
    const login = framed(1, handshakeResponse({ user: "app", proof: nativeToken("secret", salt) }));
    const bytes = Buffer.concat([login, framed(0, Buffer.of(14)), framed(0, Buffer.from("\x03select 7"))]);
    await raw.write(bytes.subarray(0, cut));
    await gateway.turned();
    await raw.write(bytes.subarray(cut));
    const kinds = [await raw.expectPacket(), await raw.expectPacket()].map(({ payload }) => payload[0]);
    expect(kinds).toEqual([0, 0]);
    const rows = [await raw.expectPacket(), await raw.expectPacket(), await raw.expectPacket()];
    expect(rows.at(0)?.payload[0]).toBe(1);
    raw.close();
  }
});

describe("a client that leaves or breaks the protocol wakes nothing", () => {
  afterEach(async () => {
    await until("nobody is served any more", () => gateway.clients.size === 0);
    expect(gateway.wakes).toEqual([]);
  });

  test("a probe that closes after the greeting", async () => {
    const { raw } = await greeted();
    raw.end();
    expect(await lastWords(raw)).toEqual([]);
  });

  test("a probe that does not even read the greeting", () => {
    for (let count = 0; count < 50; count++) new RawMysql(gateway.port).close();
  });

  test("a half login", async () => {
    const { raw } = await greeted();
    await raw.write(framed(1, handshakeResponse({ user: "app" })).subarray(0, 50));
    raw.end();
    expect(await lastWords(raw)).toEqual([]);
  });

  test.each([
    ["another protocol", Buffer.from("GET / HTTP/1.1\r\n\r\n")],
    ["a health check's goodbye", framed(0, Buffer.of(1))],
    ["a packet with another number", framed(7, handshakeResponse({ user: "app" }))],
    ["a packet that is announced to be large", Buffer.from([255, 255, 255, 1])],
  ])("%s ends without a word", async (_, bytes) => {
    const { raw } = await greeted();
    await raw.write(bytes);
    expect(await lastWords(raw)).toEqual([]);
  });

  test.each([
    ["a payload that is too short", framed(1, Buffer.of(1, 2, 3))],
    ["no payload", framed(1, Buffer.alloc(0))],
    ["a name without an end", framed(1, Buffer.concat([fixedPart(0x0008_8204), Buffer.from("app")]))],
    ["a request for TLS where there is none", framed(1, fixedPart(0x0a00))],
  ])("%s is a bad handshake, as the engine says", async (_, bytes) => {
    const { raw } = await greeted();
    await raw.write(bytes);
    const said = await lastWords(raw);
    expect(said.map(({ payload }) => payload.toString("latin1", 1))).toEqual(["\x13\x04#08S01Bad handshake"]);
  });

  test.each([
    ["before version 4.1", Buffer.from([5, 0, 255, 255, 255, ...Buffer.from("app\0abcdefgh\0")])],
    ["with passwords in the old form", Buffer.concat([fixedPart(0x0205), Buffer.from("app\0abcdefgh\0")])],
  ])("a client from %s receives the answer of the engine", async (_, payload) => {
    const answers: string[] = [];
    for (const address of [gateway.port, server.socket]) {
      const { raw } = await greeted(address);
      raw.send(1, payload);
      const [{ sequence = 0, payload: answer = Buffer.of() } = {}] = await lastWords(raw);
      answers.push(`${sequence} ${answer.toString("latin1")}`);
    }
    expect(answers[0]).toBe(answers[1] ?? "");
  });

  test("random changes of a login", async () => {
    const random = randomNumbers(SEED);
    for (let round = 0; round < FUZZ_ROUNDS; round += 20) {
      await Promise.all(Array.from({ length: 20 }, () => fuzz(random)));
    }
  });
});

/** Sends a login with some of its bytes changed, left out or put in, and waits for the end. */
async function fuzz(random: (below: number) => number): Promise<void> {
  const { raw } = await greeted();
  const proof = Buffer.alloc(20, random(256));
  const plugin = random(2) === 0 ? "mysql_native_password" : "caching_sha2_password";
  const whole = handshakeResponse({ user: "app", proof, database: "d", plugin, attributes: { a: "b" } });
  const payload = [...whole];
  for (let changes = random(6); changes > 0; changes--) {
    const at = random(payload.length);
    const kind = random(3);
    if (kind === 0) payload[at] = random(256);
    else if (kind === 1) payload.splice(at, random(30));
    else payload.splice(at, 0, ...Array.from({ length: random(30) }, () => random(256)));
  }
  raw.send(random(10) === 0 ? random(256) : 1, Uint8Array.from(payload));
  // A switch of the plugin is answered with random bytes as well.
  raw.send(3, Buffer.alloc(random(2) * 20, random(256)));
  raw.end();
  for (const { payload: said } of await lastWords(raw)) expect(said[0]).toBeOneOf([0xff, 0xfe]);
}

/** The same numbers in each run (Mulberry32). */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % Math.max(1, below);
  };
}
