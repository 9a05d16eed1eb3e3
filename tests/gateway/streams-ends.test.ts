// Ends of the gateway's streams over real sockets, and the descriptors they leave.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { StreamEnded } from "../../src/gateway/stream.ts";
import { Loop, noise, openDescriptors, type Peer } from "../support/gateway/loop.ts";

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

test("a peer that neither reads nor closes is disconnected", async () => {
  let nowMs = 0;
  const timed = new Loop({ now: () => nowMs });
  const { client, peer } = await timed.client();
  let isClosed = false;
  client.onClosed = () => (isClosed = true);
  client.write(noise(8_000_000, 1));
  client.end();
  await timed.rest();
  expect([client.hasUnsent, isClosed]).toEqual([true, false]);
  nowMs += 1_001;
  await timed.rest();
  expect(isClosed).toBe(true);
  peer.close();
  timed.close();
});

test("the holder of a client is notified at once when it disconnects", async () => {
  for (const leave of [(peer: Peer) => peer.close(), (peer: Peer) => peer.reset()]) {
    const { client, peer } = await loop.client();
    let calls = 0;
    client.onPeerEnd(() => (calls += 1));
    const forget = client.onPeerEnd(() => (calls += 100));
    forget();
    await loop.rest();
    expect(calls).toBe(0);
    leave(peer);
    await loop.until(() => calls > 0);
    client.onPeerEnd(() => (calls += 10));
    expect(calls).toBe(11);
    client.end();
    client.close();
    expect(calls).toBe(11);
  }
});

test("the holder of a client is notified when other code ends it", async () => {
  const { client, peer } = await loop.client();
  let calls = 0;
  client.onPeerEnd(() => (calls += 1));
  client.end();
  expect(calls).toBe(1);
  client.close();
  peer.close();
});

test("the end of the peer's sending is no end of the connection, and a broken connection is", async () => {
  const { client, peer } = await loop.client();
  const calls: string[] = [];
  client.onPeerEnd(() => calls.push("peer end"));
  client.onGone(() => calls.push("gone"));
  peer.shutdown();
  await loop.until(() => calls.length > 0);
  expect([calls, client.isEnded]).toEqual([["peer end"], false]);
  client.onPeerEnd(() => calls.push("late"));
  peer.reset();
  await loop.until(() => client.isEnded);
  expect(calls).toEqual(["peer end", "late", "gone"]);
});

test("a deadline ends every wait for the client, and may be cancelled", async () => {
  let nowMs = 0;
  const timed = new Loop({ now: () => nowMs });
  const [late, early] = [await timed.client(), await timed.client()];
  late.client.setDeadline(1_000);
  early.client.setDeadline(1_000);
  early.client.setDeadline(null);
  const read = late.client.read(1);
  nowMs = 999;
  await timed.rest();
  expect(late.client.isEnded).toBe(false);
  nowMs = 1_000;
  expect(await timed.of(read.catch((error: unknown) => error))).toBeInstanceOf(StreamEnded);
  await timed.until(() => late.peer.receiveAll().end !== null);
  expect([late.peer.end, early.client.isEnded]).toEqual(["closed", false]);
  early.client.end();
  for (const { peer } of [late, early]) peer.close();
  timed.close();
});

test("ending, closing, reading and writing twice or too late does no harm", async () => {
  const { client, peer } = await loop.client();
  client.end();
  client.end();
  client.close();
  client.close();
  client.write(Buffer.from("late"));
  client.sendEnd();
  expect(await loop.rejectionOf(client.read(1))).toBeInstanceOf(StreamEnded);
  expect(await loop.rejectionOf(client.peekByte())).toBeInstanceOf(StreamEnded);
  expect([client.isEnded, client.hasUnsent, client.fd]).toEqual([true, false, -1]);
  peer.close();
});

test("a closed stream takes no bytes from the connection that has its descriptor now", async () => {
  const first = await loop.client();
  first.client.close();
  await loop.rest();
  const second = await loop.client();
  second.peer.send("for the second");
  await loop.until(() => second.client.hasUnread());
  first.client.write(Buffer.from("from the first"));
  expect(await text(second.client.readSome())).toBe("for the second");
  expect(second.peer.text).toBe("");
  second.client.close();
  for (const { peer } of [first, second]) peer.close();
});

test("an error in the code of a connection ends that connection alone", async () => {
  const [faulty, other] = [await loop.client(), await loop.client()];
  faulty.client.consume({
    received: () => {
      throw new Error("a fault");
    },
    ended: () => {},
    drained: () => {},
    broken: () => {},
  });
  const read = other.client.read(5);
  faulty.peer.send("x");
  other.peer.send("hello");
  expect(await text(read)).toBe("hello");
  await loop.until(() => faulty.peer.receiveAll().end !== null);
  expect(loop.faults.splice(0)).toEqual([expect.objectContaining({ message: "a fault" })]);
  other.client.close();
  for (const { peer } of [faulty, other]) peer.close();
});

test("an error in a timer ends no connection", async () => {
  let runs = 0;
  loop.timers.after(0, () => {
    throw new Error("a fault");
  });
  loop.timers.after(0, () => (runs += 1));
  await loop.until(() => runs === 1);
  expect(loop.faults.splice(0)).toHaveLength(1);
});

test("thousands of connections leave no descriptor behind", async () => {
  const before = openDescriptors();
  for (let count = 0; count < 3_000; count++) {
    const { client, peer } = await loop.client();
    const { engine, peer: enginePeer } = loop.engine();
    if (count % 3 === 0) peer.send("x");
    if (count % 5 === 0) peer.reset();
    peer.close();
    enginePeer.close();
    if (count % 2 === 0) client.end();
    else client.close();
    engine.end();
    if (count % 50 === 0) await loop.rest();
  }
  await loop.until(() => openDescriptors() <= before);
});
