// The splice between a client, in clear and with TLS, and its engine: the bytes it passes on, and how it ends.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { TlsCertificates } from "../../src/gateway/tls/certificates.ts";
import { noise } from "../support/gateway/loop.ts";
import { KINDS, Sender, Stage } from "../support/gateway/splices.ts";
import { CertificateFolder } from "../support/wire/tls-sessions.ts";

const MEGABYTE = 1_048_576;
const folder = new CertificateFolder();
let context: TlsCertificates;
beforeAll(async () => {
  context = new TlsCertificates(await folder.newPair("main"));
});
afterAll(() => folder.remove());

let stage: Stage;

describe.each(KINDS)("%s", (kind) => {
  beforeEach(async () => {
    stage = await Stage.open(kind, context, () => performance.now());
  });
  afterEach(() => stage.close());

  test("large transfers in both directions at once are complete, with slow readers", async () => {
    const { client, peer, engine, enginePeer, log, loop } = stage;
    log.splice(client, engine);
    const up = new Sender(peer, noise(6 * MEGABYTE, 1));
    const down = new Sender(enginePeer, noise(6 * MEGABYTE + 13, 2));
    let turns = 0;
    let counts = [0, 0];
    await loop.until(() => {
      const isSent = up.push() && down.push();
      if (!isSent) down.push();
      if (turns++ % 2 === 0) peer.receive(20_000);
      else enginePeer.receive(20_000);
      if (isSent) {
        peer.receiveAll();
        enginePeer.receiveAll();
        counts = [enginePeer.received.length, peer.received.length];
      }
      return counts[0] === up.bytes.length && counts[1] === down.bytes.length;
    });
    expect(enginePeer.received.equals(up.bytes)).toBe(true);
    expect(peer.received.equals(down.bytes)).toBe(true);
    expect([log.end, log.uses > 2]).toEqual([null, true]);
  });

  test("bytes that were sent in one go arrive without further bytes of the client", async () => {
    const { client, peer, engine, enginePeer, log, loop } = stage;
    log.splice(client, engine);
    const up = new Sender(peer, noise(3 * MEGABYTE, 4));
    for (let at = 0; at < 100 && !up.push(); at++) await loop.turn();
    await loop.until(() => {
      up.push();
      enginePeer.receiveAll();
      return enginePeer.received.length === up.bytes.length;
    });
    expect(enginePeer.received.equals(up.bytes)).toBe(true);
  });

  test.each(["client", "engine"] as const)(
    "a %s that is not read from is not received without end",
    async (who) => {
      const { client, peer, engine, enginePeer, log, loop } = stage;
      log.splice(client, engine);
      const sender = new Sender(who === "client" ? peer : enginePeer, noise(64 * MEGABYTE, 3));
      let former = -1;
      for (let still = 0; still < 20; still = sender.sent === former ? still + 1 : 0) {
        former = sender.sent;
        sender.push();
        await loop.turn();
      }
      expect(sender.sent).toBeLessThan(20 * MEGABYTE);
      const reader = who === "client" ? enginePeer : peer;
      await loop.until(() => {
        reader.receiveAll();
        return sender.push();
      });
      await loop.until(() => {
        reader.receiveAll();
        return reader.received.length === sender.bytes.length;
      });
      expect(reader.received.equals(sender.bytes)).toBe(true);
    },
  );

  test("a client that has ended its sending still gets the whole answer", async () => {
    const { client, peer, engine, enginePeer, log, loop } = stage;
    log.splice(client, engine);
    peer.send("question");
    peer.shutdown();
    await loop.until(() => enginePeer.receiveAll().end !== null);
    expect([enginePeer.text, enginePeer.end, log.end]).toEqual(["question", "closed", null]);
    const answer = new Sender(enginePeer, noise(3 * MEGABYTE, 5));
    await loop.until(() => {
      peer.receive();
      return answer.push();
    });
    enginePeer.close();
    await loop.until(() => peer.receiveAll().end !== null);
    expect(peer.received.equals(answer.bytes)).toBe(true);
    await loop.until(() => log.end !== null);
    expect([peer.end, log.end, log.ends, engine.isEnded]).toEqual(["closed", "closed", 1, true]);
  });

  test("a client that ended its sending before the splice is served all the same", async () => {
    const { client, peer, engine, enginePeer, log, loop } = stage;
    peer.send("question");
    peer.shutdown();
    await loop.rest();
    log.splice(client, engine);
    await loop.until(() => enginePeer.receiveAll().end !== null);
    enginePeer.send("answer");
    enginePeer.close();
    await loop.until(() => peer.receiveAll().end !== null);
    expect([enginePeer.text, peer.text, peer.end]).toEqual(["question", "answer", "closed"]);
  });

  test("the last bytes of an engine that died reach the client, and then the end", async () => {
    const { client, peer, engine, enginePeer, log, loop } = stage;
    log.splice(client, engine);
    peer.send("a question that the engine never reads");
    const answer = new Sender(enginePeer, noise(2 * MEGABYTE, 6));
    await loop.until(() => {
      peer.receive(30_000);
      return answer.push();
    });
    enginePeer.close();
    await loop.until(() => {
      peer.receive(30_000);
      return peer.end !== null;
    });
    expect(peer.received.equals(answer.bytes)).toBe(true);
    await loop.until(() => log.end !== null);
    expect([peer.end, log.end, log.ends]).toEqual(["closed", "closed", 1]);
  });

  test("the bytes that an engine sent before it stopped reading reach the client", async () => {
    const { client, peer, engine, enginePeer, log, loop } = stage;
    log.splice(client, engine);
    enginePeer.send("go away");
    enginePeer.close();
    for (let count = 0; count < 5; count++) peer.send("more ");
    await loop.until(() => peer.receiveAll().end !== null);
    expect([peer.text, peer.end]).toEqual(["go away", "closed"]);
  });

  test("an engine is notified that its client was reset in the middle of a query", async () => {
    const { client, peer, engine, enginePeer, log, loop } = stage;
    log.splice(client, engine);
    peer.send("question");
    await loop.until(() => enginePeer.text === "question");
    enginePeer.send(noise(MEGABYTE, 7));
    peer.reset();
    await loop.until(() => log.end !== null && enginePeer.receiveAll().end !== null);
    expect([log.end, log.ends, client.isEnded]).toEqual(["closed", 1, true]);
  });

  test.each(["client", "engine"] as const)(
    "it is over when its %s was ended by somebody else",
    async (who) => {
      const { client, peer, engine, enginePeer, log, loop } = stage;
      log.splice(client, engine);
      peer.send("x");
      await loop.until(() => enginePeer.text === "x");
      if (who === "client") client.end();
      else engine.close();
      await loop.until(() => log.end !== null && enginePeer.receiveAll().end !== null);
      expect([log.end, log.ends, client.isEnded, engine.isEnded]).toEqual(["closed", 1, true, true]);
    },
  );

  test.each(["client", "engine"] as const)(
    "it is over at once with a %s that has gone before",
    async (who) => {
      const { client, engine, enginePeer, log, loop } = stage;
      if (who === "client") client.end();
      else enginePeer.close();
      await loop.rest();
      log.splice(client, engine);
      await loop.until(() => log.end !== null);
      expect([log.end, log.ends]).toEqual(["closed", 1]);
    },
  );

  test.each(["client", "engine"] as const)(
    "it is over at once with a %s that the gateway has closed before",
    async (who) => {
      const { client, peer, engine, enginePeer, log, loop } = stage;
      if (who === "client") client.close();
      else engine.close();
      log.splice(client, engine);
      await loop.until(() => peer.receiveAll().end !== null && enginePeer.receiveAll().end !== null);
      expect([log.end, log.ends]).toEqual(["closed", 1]);
    },
  );
});
