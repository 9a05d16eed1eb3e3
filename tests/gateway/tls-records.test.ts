// Clients of TLS that end or renew it at odd moments: their own connection may break, and other clients notice nothing.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import type { ClientSocket, TlsPolicy } from "../../src/gateway/sockets/client-socket.ts";
import { TlsCertificates } from "../../src/gateway/tls/certificates.ts";
import { Loop, noise } from "../support/gateway/loop.ts";
import { CertificateFolder } from "../support/wire/tls-sessions.ts";

const folder = new CertificateFolder();
let policy: TlsPolicy;
let loop: Loop;
beforeAll(async () => {
  const context = new TlsCertificates(await folder.newPair("main"));
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

interface Stage {
  client: ClientSocket;
  peer: Bun.Subprocess<"pipe">;
  /** How often bytes of the client arrived. */
  reads(): number;
  isBroken(): boolean;
}

/** A client whose bytes are read as a splice reads them, each answered with so many bytes. */
async function stage(mode: "reset" | "half" | "halfAndEnd" | "keys", answerBytes: number): Promise<Stage> {
  const script = join(import.meta.dir, "../support/wire/tls-records.mjs");
  const peer = Bun.spawn(["node", script, String(loop.port), mode], {
    stdio: ["pipe", "inherit", "inherit"],
  });
  const client = await loop.of(loop.accept(policy));
  await loop.of(client.startTls());
  const answer = noise(answerBytes, 1);
  let [reads, isBroken] = [0, false];
  client.consume({
    received: () => {
      reads++;
      client.write(answer);
    },
    ended: () => {
      isBroken = true;
    },
    drained: () => {},
    broken: () => {
      isBroken = true;
    },
  });
  return { client, peer, reads: () => reads, isBroken: () => isBroken };
}

async function end({ client, peer }: Stage): Promise<void> {
  client.close();
  peer.kill();
  await loop.of(peer.exited);
  expect(await isServed()).toBe(true);
}

test("a client that closes and resets in the middle of an answer breaks its own connection alone", async () => {
  for (let round = 0; round < 10; round++) {
    const staged = await stage("reset", 8_000_000);
    await loop.until(() => staged.client.hasUnsent);
    void staged.peer.stdin.write("go on\n");
    await staged.peer.stdin.flush();
    await loop.until(staged.isBroken);
    await end(staged);
  }
});

test("a client that leaves a message of TLS unfinished keeps its own connection alone busy", async () => {
  const staged = await stage("half", 100);
  await loop.until(() => staged.reads() === 1);
  await end(staged);
});

test("a client that leaves a message of TLS unfinished and ends is disconnected", async () => {
  const staged = await stage("halfAndEnd", 100);
  await loop.until(staged.isBroken);
  await end(staged);
});

test("a client that renews its keys again and again, and reads nothing, is disconnected", async () => {
  const staged = await stage("keys", 100);
  await loop.until(() => staged.reads() > 0);
  void staged.peer.stdin.write("go on\n");
  await staged.peer.stdin.flush();
  await loop.until(staged.isBroken);
  await end(staged);
});

/** Whether another client is still answered. */
async function isServed(): Promise<boolean> {
  const { client, peer } = await loop.client();
  client.write(Buffer.from("there"));
  await loop.until(() => peer.receiveAll().text === "there");
  client.close();
  peer.close();
  return true;
}
