// Reads and writes of the gateway's streams over real sockets, with peers that behave as clients do.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { StreamEnded } from "../../src/gateway/stream.ts";
import { Loop, noise, shrinkSending } from "../support/gateway/loop.ts";

let loop: Loop;
beforeEach(() => {
  loop = new Loop();
});
afterEach(() => {
  expect(loop.faults).toEqual([]);
  loop.close();
});

async function text(promise: Promise<Uint8Array>): Promise<string> {
  return Buffer.from(await loop.of(promise)).toString();
}

test("a read gets exactly its bytes, however they are cut", async () => {
  const { client, peer } = await loop.client();
  const read = client.read(10);
  for (const piece of ["0", "123", "45", "678", "9rest"]) {
    peer.send(piece);
    await loop.rest();
  }
  expect(await text(read)).toBe("0123456789");
  expect(await text(client.readSome())).toBe("rest");
  client.close();
  peer.close();
});

test("a read larger than the loop's own buffer is complete", async () => {
  const { client, peer } = await loop.client();
  const sent = noise(700_001, 1);
  const read = client.read(sent.length);
  let at = 0;
  await loop.until(() => {
    at += Math.max(0, peer.send(sent.subarray(at)));
    return at === sent.length;
  });
  expect(sent.equals(await loop.of(read))).toBe(true);
  client.close();
  peer.close();
});

test("bytes before the end are read, and then the end", async () => {
  const { client, peer } = await loop.client();
  peer.send("last words");
  peer.close();
  expect(await text(client.read(5))).toBe("last ");
  await loop.rest();
  expect(await text(client.readSome())).toBe("words");
  expect(await loop.rejectionOf(client.read(1))).toBeInstanceOf(StreamEnded);
  client.end();
});

test("a client that ended its sending before the first read is still answered", async () => {
  const { client, peer } = await loop.client();
  peer.send("question");
  peer.shutdown();
  await loop.rest();
  expect(await text(client.readSome())).toBe("question");
  client.write(Buffer.from("answer"));
  client.end();
  await loop.until(() => peer.receiveAll().end !== null);
  expect([peer.text, peer.end]).toEqual(["answer", "closed"]);
  peer.close();
});

test("a peer's last bytes are read although a write failed before", async () => {
  const { engine, peer } = loop.engine();
  peer.send("too many connections");
  peer.close();
  engine.write(Buffer.from("let me in"));
  expect(engine.isEnded).toBe(true);
  expect(await text(engine.read(3))).toBe("too");
  expect(await text(engine.readSome())).toBe(" many connections");
  expect(await loop.rejectionOf(engine.readSome())).toBeInstanceOf(StreamEnded);
  engine.end();
});

test("a waiting read gets the last bytes of a peer to which a write fails", async () => {
  const { engine, peer } = loop.engine();
  const read = engine.readSome();
  await loop.rest();
  peer.send("refused");
  peer.close();
  engine.write(Buffer.from("let me in"));
  expect(await text(read)).toBe("refused");
  expect(await loop.rejectionOf(engine.read(1))).toBeInstanceOf(StreamEnded);
  engine.end();
});

test("a reset ends waiting reads and writes", async () => {
  const { client, peer } = await loop.client();
  const read = client.read(10);
  peer.send("half");
  await loop.rest();
  peer.reset();
  expect(await loop.rejectionOf(read)).toBeInstanceOf(StreamEnded);
  client.write(Buffer.from("into the void"));
  client.end();
});

test("a slow reader gets all bytes that were written, in order", async () => {
  const { client, peer } = await loop.client();
  shrinkSending(client);
  const parts = Array.from({ length: 200 }, (_, index) => noise(1 + ((index * 7_919) % 40_000), index));
  for (const part of parts) client.write(part);
  client.end();
  await loop.until(() => {
    peer.receive(10_000);
    return peer.end !== null;
  });
  expect(peer.end).toBe("closed");
  expect(peer.received.equals(Buffer.concat(parts))).toBe(true);
  peer.close();
});

test("a client that does not read is not read from until it does", async () => {
  const { client, peer } = await loop.client();
  shrinkSending(client);
  const answer = noise(4_000_000, 3);
  client.write(answer);
  const read = client.readSome();
  let isRead = false;
  void read.then(() => (isRead = true));
  peer.send("more");
  await loop.rest();
  expect([client.hasUnsent, isRead]).toEqual([true, false]);
  await loop.until(() => {
    peer.receiveAll();
    return isRead;
  });
  expect(await text(read)).toBe("more");
  client.end();
  await loop.until(() => peer.receiveAll().end !== null);
  expect(peer.received.equals(answer)).toBe(true);
  peer.close();
});

test("the last bytes arrive although the peer is still sending", async () => {
  const { client, peer } = await loop.client();
  peer.send(noise(300_000, 5));
  client.write(Buffer.from("no more of this"));
  client.end();
  for (let turn = 0; turn < 50; turn++) {
    peer.send(noise(50_000, turn));
    await loop.turn();
  }
  expect([peer.text, peer.end]).toEqual(["no more of this", "closed"]);
  peer.close();
  await loop.until(() => client.fd === -1);
});

test("a byte that is peeked at stays unread, although other connections receive bytes meanwhile", async () => {
  const clients = [];
  for (let index = 0; index < 20; index++) clients.push(await loop.client());
  const peeks = clients.map(async ({ client }, index) => {
    const byte = await client.peekByte();
    return byte === 65 + index && Buffer.from(await client.read(3)).toString();
  });
  for (const [index, { peer }] of clients.entries()) peer.send(`${String.fromCodePoint(65 + index)}--`);
  const words = await loop.of(Promise.all(peeks));
  expect(words).toEqual(clients.map((_, index) => `${String.fromCodePoint(65 + index)}--`));
  for (const { client, peer } of clients) {
    client.close();
    peer.close();
  }
});

test("whether bytes have arrived can be asked at any time", async () => {
  const { client, peer } = await loop.client();
  expect(client.hasUnread()).toBe(false);
  peer.send("x");
  await loop.until(() => client.hasUnread());
  expect(await text(client.readSome())).toBe("x");
  expect(client.hasUnread()).toBe(false);
  client.close();
  expect(client.hasUnread()).toBe(false);
  peer.close();
});

test("a peek at a client that has closed fails", async () => {
  const { client, peer } = await loop.client();
  const peek = client.peekByte();
  peer.close();
  expect(await loop.rejectionOf(peek)).toBeInstanceOf(StreamEnded);
});
