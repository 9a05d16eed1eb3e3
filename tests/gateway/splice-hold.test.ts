// The splice between a client, in clear and with TLS, and an engine that is to sleep: held between messages, idle,
// disconnected.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { TlsCertificates } from "../../src/gateway/tls/certificates.ts";
import { noise } from "../support/gateway/loop.ts";
import { KINDS, PrefixFramer, Sender, Stage, SpliceLog } from "../support/gateway/splices.ts";
import { CertificateFolder } from "../support/wire/tls-sessions.ts";

const MEGABYTE = 1_048_576;
const folder = new CertificateFolder();
let context: TlsCertificates;
beforeAll(async () => {
  context = new TlsCertificates(await folder.newPair("main"));
});
afterAll(() => folder.remove());

/**
 * A framer for tests: an opening bracket opens something at the engine, a closing bracket ends it, and any word is an
 * answer.
 */
class BracketFramer extends PrefixFramer {
  isAnswered = true;
  #isOpen = false;

  override walk(bytes: Uint8Array, length: number): boolean {
    this.isAnswered = false;
    return super.walk(bytes, length);
  }

  observe(bytes: Uint8Array, length: number): void {
    const text = Buffer.from(bytes.subarray(0, length)).toString();
    if (text.includes("(")) this.#isOpen = true;
    if (text.includes(")")) this.#isOpen = false;
    this.isAnswered = true;
  }

  override get isBetweenMessages(): boolean {
    return super.isBetweenMessages && !this.#isOpen;
  }
}

let nowMs = 0;
let stage: Stage;

describe.each(KINDS)("%s", (kind) => {
  beforeEach(async () => {
    stage = await Stage.open(kind, context, () => nowMs);
  });
  afterEach(() => stage.close());

  test("a hold begins between two messages, and loses no byte", async () => {
    const { client, peer, engine, enginePeer, log, loop } = stage;
    const splice = log.splice(client, engine, new PrefixFramer());
    peer.send("\x03one\x05tw");
    await loop.until(() => enginePeer.text.length === 7);
    splice.hold(true);
    await loop.rest();
    expect([splice.isIdle(1e9, 0), splice.isAsked]).toEqual([false, false]);
    peer.send("o..");
    await loop.until(() => enginePeer.text === "\x03one\x05two..");
    expect(splice.isAsked).toBe(false);
    peer.send("\x04four");
    await loop.until(() => splice.isAsked);
    expect([enginePeer.text, splice.isAsked]).toEqual(["\x03one\x05two..", true]);
    splice.hold(false);
    await loop.until(() => enginePeer.text === "\x03one\x05two..\x04four");
    expect(splice.isAsked).toBe(false);
  });

  test("a message that has begun to arrive is completed while clients are held", async () => {
    const { client, peer, engine, enginePeer, log, loop } = stage;
    const splice = log.splice(client, engine, new PrefixFramer());
    const message = Buffer.concat(Array.from({ length: 4_000 }, () => Buffer.from("\x63".padEnd(100, "x"))));
    const sender = new Sender(
      peer,
      Buffer.concat([Buffer.from("\xff", "latin1"), message]).subarray(0, message.length),
    );
    splice.hold(true);
    await loop.until(() => {
      enginePeer.receiveAll();
      return sender.push();
    });
    peer.send("y".repeat(255));
    splice.hold(false);
    await loop.until(() => enginePeer.text.length === message.length + 255);
    splice.hold(true);
    await loop.rest();
    expect(splice.isIdle(1e9, 0)).toBe(false);
  });

  test("the splice is idle when the engine has read everything and sent nothing for a while", async () => {
    const { client, peer, engine, enginePeer, log, loop } = stage;
    nowMs = 1_000;
    const splice = log.splice(client, engine, new PrefixFramer());
    peer.send("\x03one");
    await loop.rest();
    expect(splice.isIdle(1e9, 20)).toBe(false);
    splice.hold(true);
    expect(splice.isIdle(1e9, 20)).toBe(false);
    enginePeer.receiveAll();
    expect(splice.isIdle(1e9, 20)).toBe(true);
    enginePeer.send("answer");
    await loop.until(() => peer.text === "answer");
    expect([splice.isIdle(1_019, 20), splice.isIdle(1_020, 20)]).toEqual([false, true]);
    enginePeer.send(noise(30 * MEGABYTE, 1));
    await loop.rest();
    peer.send("\x03two");
    await loop.rest();
    splice.hold(false);
    expect(splice.isIdle(1e9, 20)).toBe(false);
  });

  test("a client with something open at the engine is not held, and the splice is not idle", async () => {
    const { client, peer, engine, enginePeer, log, loop } = stage;
    const splice = log.splice(client, engine, new BracketFramer());
    peer.send("\x05begin");
    await loop.until(() => enginePeer.text === "\x05begin");
    splice.hold(true);
    await loop.rest();
    // The engine has read it, and takes long to answer.
    expect(splice.isIdle(1e9, 0)).toBe(false);
    enginePeer.send("(");
    await loop.until(() => peer.text === "(");
    peer.send("\x03end");
    await loop.until(() => enginePeer.text === "\x05begin\x03end");
    enginePeer.send(")");
    await loop.until(() => peer.text === "()");
    expect(splice.isIdle(1e9, 0)).toBe(true);
    peer.send("\x04more");
    await loop.until(() => splice.isAsked);
    expect(enginePeer.text).toBe("\x05begin\x03end");
  });

  test("a client that is disconnected from its engine goes on with another, without a byte lost or doubled", async () => {
    const { client, peer, engine, enginePeer, log, loop } = stage;
    const sent = noise(MEGABYTE, 8);
    const sender = new Sender(peer, sent);
    const received: Buffer[] = [];
    let answers = "";
    for (let round = 0; round < 6; round++) {
      const { engine: next, peer: nextPeer } = stage.newEngine();
      const each = new SpliceLog();
      const splice = each.splice(client, next);
      const goal = ((round + 1) * sent.length) / 8;
      await loop.until(() => {
        sender.push();
        nextPeer.receiveAll();
        return received.reduce((sum, { length }) => sum + length, 0) + nextPeer.received.length >= goal;
      });
      nextPeer.send(`answer ${round}`);
      answers += `answer ${round}`;
      await loop.until(() => peer.text === answers);
      splice.hold(true);
      await loop.until(() => {
        nextPeer.receiveAll();
        return splice.isIdle(1e9, 20);
      });
      splice.detach();
      await loop.until(() => each.end !== null);
      expect([each.end, each.ends]).toEqual(["detached", 0]);
      next.write(Buffer.from("who am I"));
      await loop.until(() => nextPeer.receiveAll().received.subarray(-8).toString() === "who am I");
      received.push(nextPeer.received.subarray(0, -8));
      nextPeer.send("the client");
      expect(Buffer.from(await loop.of(next.read(10))).toString()).toBe("the client");
      next.end();
    }
    log.splice(client, engine);
    await loop.until(() => {
      enginePeer.receiveAll();
      return sender.push();
    });
    peer.shutdown();
    await loop.until(() => enginePeer.receiveAll().end !== null);
    expect(Buffer.concat([...received, enginePeer.received]).equals(sent)).toBe(true);
  });
});
