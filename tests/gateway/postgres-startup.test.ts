// The gateway's answers to first bytes in front of a sleeping Postgres, byte by byte; no such bytes wake the engine.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { connect as connectTls } from "node:tls";
import { cancelRequest, int32 } from "../../src/gateway/postgres/messages.ts";
import { TlsCertificates } from "../../src/gateway/tls/certificates.ts";
import { randomOf } from "../../src/realtime/test-support.ts";
import { until } from "../support/pilvi/pilvi.ts";
import { TestPostgres } from "../support/engines/postgres-engine.ts";
import { PostgresGateway } from "../support/gateway/postgres-gateway.ts";
import { errorOf, RawPostgres, startup } from "../support/wire/postgres-raw.ts";
import { CertificateFolder } from "../support/wire/tls-sessions.ts";

const SSL_REQUEST = Buffer.concat([int32(8), int32(80_877_103)]);
const GSS_REQUEST = Buffer.concat([int32(8), int32(80_877_104)]);
const HELLO = startup({ user: "ann", database: "main" });
/** AuthenticationSASL with the only mechanism that is offered without TLS. */
const OFFER = Buffer.concat([Buffer.from("R"), int32(23), int32(10), Buffer.from("SCRAM-SHA-256\0\0")]);

const certificates = new CertificateFolder();
let server: TestPostgres;
let tls: TlsCertificates;
let gateway: PostgresGateway;
let clients: RawPostgres[] = [];

beforeAll(async () => {
  server = await TestPostgres.start();
  await server.stop();
  tls = new TlsCertificates(await certificates.newPair("server"));
});

beforeEach(() => {
  gateway = new PostgresGateway(server);
});

afterEach(async () => {
  for (const client of clients) client.close();
  clients = [];
  await gateway.close();
  expect(gateway.faults).toEqual([]);
  expect(gateway.wakes).toEqual([]);
  expect(server.isRunning).toBe(false);
});

afterAll(async () => {
  await server.remove();
  certificates.remove();
});

async function open(): Promise<RawPostgres> {
  const client = await RawPostgres.open(gateway.port);
  clients.push(client);
  return client;
}

/** All bytes that are answered up to the end of the connection. */
async function answerTo(...parts: Uint8Array[]): Promise<Buffer> {
  const client = await open();
  client.send(Buffer.concat(parts));
  return await client.rest();
}

/** The same for bytes that are answered with an error alone. */
async function errorAfter(...parts: Uint8Array[]): Promise<Record<string, string | undefined>> {
  const bytes = await answerTo(...parts);
  return errorOf({ type: bytes.toString("latin1", 0, 1), body: bytes.subarray(5) });
}

async function reopen(policy: ConstructorParameters<typeof PostgresGateway>[1]): Promise<void> {
  await gateway.close();
  gateway = new PostgresGateway(server, policy);
}

/** A client within TLS that begins with the first byte. */
async function direct(alpn: string[]): Promise<{ answer: Promise<string>; end: () => void }> {
  const socket = connectTls({
    port: gateway.port,
    host: "127.0.0.1",
    rejectUnauthorized: false,
    ...(alpn.length === 0 ? {} : { ALPNProtocols: alpn }),
  });
  socket.on("secureConnect", () => socket.write(HELLO));
  const answer = new Promise<string>((resolve) => {
    socket.on("data", (bytes) => resolve(bytes.toString("latin1")));
    socket.on("error", () => resolve(""));
    socket.on("close", () => resolve(""));
  });
  return { answer, end: () => socket.destroy() };
}

describe("in clear", () => {
  test("the offered mechanisms follow the first packet at once, however it is cut", async () => {
    const packets = Buffer.concat([GSS_REQUEST, SSL_REQUEST, HELLO]);
    for (let cut = 1; cut <= HELLO.length; cut++) {
      const client = await open();
      client.send(HELLO.subarray(0, cut));
      await until("the first part has left", () => client.socket.bytesWritten === cut);
      await gateway.turned();
      client.send(HELLO.subarray(cut));
      expect(await client.read(OFFER.length)).toEqual(OFFER);
      client.close();
    }
    const slow = await open();
    const answers: Buffer[] = [];
    for (const [index, byte] of packets.entries()) {
      slow.send(Buffer.of(byte));
      await gateway.turned();
      if (index === 7 || index === 15) answers.push(await slow.read(1));
    }
    expect(Buffer.concat([...answers, await slow.read(OFFER.length)])).toEqual(
      Buffer.concat([Buffer.from("NN"), OFFER]),
    );
  });

  test.each([
    [SSL_REQUEST, "0A000", "unsupported frontend protocol 1234.5679: server supports 3.0 to 3.2"],
    [GSS_REQUEST, "0A000", "unsupported frontend protocol 1234.5680: server supports 3.0 to 3.2"],
  ])("a request is answered no more than once: %p", async (request, code, text) => {
    const client = await open();
    client.send(request);
    expect((await client.read(1)).toString()).toBe("N");
    client.send(request);
    expect(errorOf(await client.next())).toEqual({ S: "FATAL", V: "FATAL", C: code, M: text });
    expect(await client.rest()).toHaveLength(0);
  });

  test.each([
    [SSL_REQUEST, "received unencrypted data after SSL request"],
    [GSS_REQUEST, "received unencrypted data after GSSAPI encryption request"],
  ])("nothing may be stuffed behind a request: %p", async (request, text) => {
    for (const stuffed of [HELLO, Buffer.of(0x16), Buffer.of(0)]) {
      expect(await errorAfter(request, stuffed)).toMatchObject({ C: "08P01", M: text });
    }
  });

  test.each([
    [Buffer.of(0, 0, 0, 0)],
    [Buffer.of(0, 0, 0, 7)],
    [int32(10_005)],
    [int32(-1)],
    [Buffer.from("GET / HTTP/1.1\r\n\r\n")],
    [Buffer.of(0x16, 3, 1, 0, 5)],
    [cancelRequest(1, Buffer.alloc(4))],
    [cancelRequest(1, Buffer.alloc(32))],
    [cancelRequest(1, Buffer.alloc(300))],
  ])("nothing is answered to %p", async (bytes) => {
    expect(await answerTo(bytes)).toHaveLength(0);
  });

  test("a packet may be as long as Postgres allows", async () => {
    const overhead = startup({ user: "ann", x: "" }).length;
    const client = await open();
    client.send(startup({ user: "ann", x: "y".repeat(10_004 - overhead) }));
    expect(await client.read(OFFER.length)).toEqual(OFFER);
    expect(await answerTo(startup({ user: "ann", x: "y".repeat(10_005 - overhead) }))).toHaveLength(0);
  });

  test.each(["true", "database", "maybe"])(
    "replication=%s is refused alike for every user",
    async (value) => {
      gateway.update({ users: [{ name: "ann", verifier: "" }] });
      const M = 'number of requested standby connections exceeds "max_wal_senders" (currently 0)';
      for (const user of ["ann", "nobody"]) {
        const answer = await errorAfter(startup({ user, database: "main", replication: value }));
        expect(answer).toEqual({ S: "FATAL", V: "FATAL", C: "53300", M });
      }
    },
  );

  test("a client that asks for no replication is asked for its password", async () => {
    const client = await open();
    client.send(startup({ user: "ann", replication: "false" }));
    expect(await client.read(OFFER.length)).toEqual(OFFER);
  });

  test("unknown versions and options are negotiated", async () => {
    const client = await open();
    client.send(startup({ user: "ann", "_pq_.one": "1" }, 0x3_270f));
    const { type, body } = await client.next();
    expect(type).toBe("v");
    expect(body).toEqual(Buffer.concat([int32(0x3_0002), int32(1), Buffer.from("_pq_.one\0")]));
    expect(await client.read(OFFER.length)).toEqual(OFFER);
    for (const version of [0x3_0000, 0x3_0001, 0x3_0002]) {
      const other = await open();
      other.send(startup({ user: "ann" }, version));
      expect(await other.read(OFFER.length)).toEqual(OFFER);
    }
    expect(await errorAfter(startup({ user: "ann" }, 0x2_0000))).toMatchObject({ C: "0A000" });
    expect(await errorAfter(startup({ database: "main" }))).toMatchObject({ C: "28000" });
  });

  test.each([
    ["another message", Buffer.from("Q\0\0\0\x05\0"), "expected SASL response, got message type 81"],
    ["one without a body", Buffer.from("p\0\0\0\x04"), "invalid message length"],
    ["one that is too long", Buffer.from("p\0\0\x04\x05"), "invalid message length"],
    ["one with a negative length", Buffer.from("p\xff\xff\xff\xff", "latin1"), "invalid message length"],
    ["one without a choice", Buffer.from("p\0\0\0\x06ab"), "invalid SASLInitialResponse message"],
    ["a plain password", Buffer.from("p\0\0\0\x0csecret!\0"), "invalid SASLInitialResponse message"],
  ])("%s instead of a choice of a mechanism is a violation", async (_, bytes, text) => {
    const client = await open();
    client.send(Buffer.concat([HELLO, bytes]));
    await client.read(OFFER.length);
    expect(errorOf(await client.next())).toMatchObject({ C: "08P01", M: text });
    expect(await client.rest()).toHaveLength(0);
  });

  test("a client that must use TLS gets an error, and may cancel all the same", async () => {
    await reopen({ certificates: tls, mustStartTls: true });
    const error = await errorAfter(HELLO);
    expect(error).toMatchObject({ C: "28000" });
    expect(error.M).toContain("sslmode=require");
    expect(await answerTo(cancelRequest(1, Buffer.alloc(4)))).toHaveLength(0);
  });

  test("random bytes and changed first packets never get more than the offered mechanisms", async () => {
    const random = randomOf(5);
    const below = (limit: number) => Math.floor(random() * limit);
    const seeds = [
      HELLO,
      SSL_REQUEST,
      GSS_REQUEST,
      cancelRequest(5, Buffer.alloc(4)),
      startup({ user: "a" }, 0x3_0009),
    ];
    for (let round = 0; round < 400; round++) {
      const bytes = Buffer.concat(
        Array.from({ length: 1 + below(3) }, () => seeds[below(seeds.length)] as Buffer),
      );
      for (let change = below(6); change > 0; change--) bytes[below(bytes.length)] = below(256);
      const client = await open();
      client.send(bytes.subarray(0, 1 + below(bytes.length)));
      client.socket.end();
      const answer = (await client.rest()).toString("latin1");
      expect(answer.replace(OFFER.toString("latin1"), "")).toMatch(/^N{0,2}(v.*)?(E.*)?$/s);
      client.close();
    }
    await until("all have been served", () => gateway.clients.size === 0);
  });
});

describe("with TLS", () => {
  beforeEach(async () => await reopen({ certificates: tls }));

  test("it may begin with the first byte for clients that name their protocol by ALPN", async () => {
    const { answer, end } = await direct(["postgresql"]);
    expect(await answer).toContain("SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0");
    end();
  });

  test.each([[[]], [["http/1.1"]]])("and for nobody else: %p", async (alpn) => {
    const { answer, end } = await direct(alpn);
    expect(await answer).toBe("");
    end();
  });

  test("it begins after a request, and cannot be requested again", async () => {
    const client = await open();
    client.send(SSL_REQUEST);
    expect((await client.read(1)).toString()).toBe("S");
    const secured = connectTls({ socket: client.socket, rejectUnauthorized: false });
    secured.on("secureConnect", () => secured.write(SSL_REQUEST));
    const bytes = await new Promise<Buffer>((resolve, reject) =>
      secured.on("data", resolve).on("error", reject),
    );
    expect(errorOf({ type: bytes.toString("latin1", 0, 1), body: bytes.subarray(5) })).toMatchObject({
      C: "0A000",
    });
    secured.destroy();
  });

  test("bytes behind a request in clear are not taken for encrypted", async () => {
    const text = "received unencrypted data after SSL request";
    expect(await errorAfter(SSL_REQUEST, HELLO)).toMatchObject({ C: "08P01", M: text });
  });

  test("bytes other than a handshake end the connection", async () => {
    const client = await open();
    client.send(SSL_REQUEST);
    await client.read(1);
    client.send(HELLO);
    await client.rest();
  });
});
