// TLS of the gateway's clients, from the first byte of the handshake to the last byte that is read.
import { afterAll, afterEach, beforeAll, beforeEach, expect, spyOn, test } from "bun:test";
import { connect } from "node:tls";
import type { TlsPolicy } from "../../src/gateway/sockets/client-socket.ts";
import { UnreadBytes } from "../../src/gateway/sockets/unread-bytes.ts";
import { StreamEnded } from "../../src/gateway/stream.ts";
import { TlsCertificates } from "../../src/gateway/tls/certificates.ts";
import { Loop, noise, openDescriptors, Peer } from "../support/gateway/loop.ts";
import { TlsPeer, tlsClient } from "../support/wire/tls-peer.ts";
import { CertificateFolder } from "../support/wire/tls-sessions.ts";

const folder = new CertificateFolder();
let context: TlsCertificates;
let policy: TlsPolicy;
let loop: Loop;
beforeAll(async () => {
  context = new TlsCertificates(await folder.newPair("main"));
  policy = { certificates: context, mustStartTls: true };
});
afterAll(() => folder.remove());
beforeEach(() => {
  loop = new Loop();
});
afterEach(() => {
  expect(loop.faults).toEqual([]);
  loop.close();
});

/** The first message of a client of TLS 1.3, as this runtime sends it. */
async function clientHello(ALPNProtocols: string[] = []): Promise<Buffer> {
  const options = { port: loop.port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols };
  const socket = connect(options).on("error", () => {});
  const stream = await loop.accept();
  const hello = Buffer.from(await loop.of(stream.readSome()));
  stream.close();
  socket.destroy();
  return hello;
}

test("Bun's TLS client completes its handshake, is read and is answered", async () => {
  const socket = connect({
    port: loop.port,
    host: "127.0.0.1",
    rejectUnauthorized: false,
    servername: "Db.Test",
  });
  const client = await loop.accept(policy);
  await loop.of(client.startTls());
  expect(client.tls?.serverName).toBe("db.test");
  socket.write("question");
  expect(Buffer.from(await loop.of(client.read(8))).toString()).toBe("question");
  const answer = new Promise<Buffer>((resolve) => socket.once("data", resolve));
  client.write(Buffer.from("answer"));
  expect(String(await loop.of(answer))).toBe("answer");
  client.end();
  await loop.of(new Promise((resolve) => socket.once("close", resolve)));
});

test("a handshake completes wherever its first message is cut", async () => {
  const hello = await clientHello();
  for (const cut of [1, 4, 5, 6, Math.floor(hello.length / 2), hello.length - 1]) {
    const { client, peer } = await loop.client(policy);
    const rejection = loop.rejectionOf(client.startTls());
    peer.send(hello.subarray(0, cut));
    await loop.rest();
    expect(peer.text).toBe("");
    peer.send(hello.subarray(cut));
    await loop.until(() => peer.receiveAll().received.length > 100);
    // A handshake message (RFC 8446, 5.1).
    expect(peer.received[0]).toBe(0x16);
    peer.close();
    expect(await rejection).toBeInstanceOf(StreamEnded);
  }
});

test("a first message that arrives byte by byte is looked at a few times only", async () => {
  const hello = await clientHello();
  const { client, peer } = await loop.client(policy);
  const looks = spyOn(UnreadBytes.prototype, "peek");
  const rejection = loop.rejectionOf(client.startTls());
  for (const byte of hello) {
    peer.send(Uint8Array.of(byte));
    await loop.turn();
  }
  await loop.until(() => peer.receiveAll().received.length > 100);
  peer.close();
  expect(await rejection).toBeInstanceOf(StreamEnded);
  const count = looks.mock.calls.length;
  looks.mockRestore();
  expect(count).toBeLessThanOrEqual(5);
});

test("a first message in very many records is refused", async () => {
  const { client, peer } = await loop.client(policy);
  const rejection = loop.rejectionOf(client.startTls());
  // A message of 16,380 bytes, with one byte in each record.
  const begun = [1, 0, 16_376 >> 8, 16_376 & 255, ...Array<number>(100).fill(0)];
  peer.send(Buffer.from(begun.flatMap((byte) => [22, 3, 1, 0, 1, byte])));
  expect(await rejection).toBeInstanceOf(StreamEnded);
  await loop.until(() => peer.receiveAll().end !== null);
  expect([peer.received[0], peer.end]).toEqual([0x15, "closed"]);
  peer.close();
});

test("a client that speaks no TLS is disconnected", async () => {
  const { client, peer } = await loop.client(policy);
  const rejection = loop.rejectionOf(client.startTls());
  peer.send("GET / HTTP/1.1\r\n\r\n");
  expect(await rejection).toBeInstanceOf(StreamEnded);
  await loop.until(() => peer.receiveAll().end !== null);
  expect(peer.end).toBe("closed");
  peer.close();
});

test("a client of another protocol gets a TLS alert, although it goes on sending", async () => {
  const hello = await clientHello(["h2"]);
  const { client, peer } = await loop.client(policy);
  const rejection = loop.rejectionOf(client.startTls(["postgresql"]));
  peer.send(hello);
  for (let count = 0; count < 20; count++) {
    peer.send("more of the same");
    await loop.turn();
  }
  expect(await rejection).toBeInstanceOf(StreamEnded);
  await loop.until(() => peer.receiveAll().end !== null);
  // The alert (RFC 8446, 5.1) arrives, and no reset discards it.
  expect([peer.received[0], peer.end]).toEqual([0x15, "closed"]);
  peer.close();
});

test.each(["close", "reset"] as const)(
  "a client may leave in the middle of the handshake by a %s",
  async (how) => {
    const hello = await clientHello();
    for (const length of [0, 10, hello.length]) {
      const { client, peer } = await loop.client(policy);
      const rejection = loop.rejectionOf(client.startTls());
      peer.send(hello.subarray(0, length));
      await loop.rest();
      peer[how]();
      expect(await rejection).toBeInstanceOf(StreamEnded);
    }
  },
);

test.each(["close", "end"] as const)("a handshake is over when somebody else calls %s", async (how) => {
  const { client, peer } = await loop.client(policy);
  const rejection = loop.rejectionOf(client.startTls());
  await loop.rest();
  client[how]();
  expect(await rejection).toBeInstanceOf(StreamEnded);
  expect(await loop.rejectionOf(client.startTls())).toBeInstanceOf(Error);
  peer.close();
});

test("a deadline ends a handshake that makes no progress", async () => {
  let nowMs = 0;
  const timed = new Loop({ now: () => nowMs });
  const { client, peer } = await timed.client(policy);
  client.setDeadline(5_000);
  const rejection = timed.rejectionOf(client.startTls());
  nowMs = 5_000;
  expect(await rejection).toBeInstanceOf(StreamEnded);
  peer.close();
  timed.close();
});

test("decrypted bytes are read piece by piece, and their presence can be asked for", async () => {
  const { client, peer } = await tlsClient(loop, context);
  peer.send("one two three");
  expect(Buffer.from(await loop.of(client.read(4))).toString()).toBe("one ");
  expect(client.hasUnread()).toBe(true);
  expect(Buffer.from(await loop.of(client.read(4))).toString()).toBe("two ");
  expect(Buffer.from(await loop.of(client.readSome())).toString()).toBe("three");
  expect(client.hasUnread()).toBe(false);
  peer.shutdown();
  expect(await loop.rejectionOf(client.read(1))).toBeInstanceOf(StreamEnded);
  client.end();
  peer.close();
});

test("a slow reader gets all bytes that were written through TLS", async () => {
  const { client, peer } = await tlsClient(loop, context);
  const parts = Array.from({ length: 100 }, (_, index) => noise(1 + ((index * 7_919) % 90_000), index));
  for (const part of parts) client.write(part);
  await loop.until(() => {
    peer.receive(30_000);
    return !client.hasUnsent;
  });
  client.end();
  await loop.until(() => peer.receiveAll().end !== null);
  expect(peer.received.equals(Buffer.concat(parts))).toBe(true);
  peer.close();
});

test("hundreds of handshakes, whole and broken, leave no descriptor behind", async () => {
  const before = openDescriptors();
  for (let count = 0; count < 150; count++) {
    const { client, peer } = await tlsClient(loop, context);
    if (count % 2 === 0) client.end();
    else client.close();
    peer.close();
    const half = new TlsPeer(Peer.connect(loop.port).fd);
    const broken = await loop.accept(policy);
    const rejection = loop.rejectionOf(broken.startTls());
    half.handshake();
    await loop.turn();
    half.close();
    expect(await rejection).toBeInstanceOf(StreamEnded);
  }
  await loop.until(() => openDescriptors() <= before);
});
