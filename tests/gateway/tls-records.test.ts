// Clients of TLS that end or renew it at odd moments: their own connection may break, and other clients notice nothing.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { CHUNK_BYTES } from "../../src/gateway/reactor/chunk.ts";
import type { ClientSocket, TlsPolicy } from "../../src/gateway/reactor/client-socket.ts";
import { addressOf, libc, SOL_SOCKET } from "../../src/gateway/reactor/libc.ts";
import { TlsContext } from "../../src/gateway/tls/index.ts";
import { Loop, noise } from "../support/gateway/loop.ts";
import { CertificateFolder, LIBRARY } from "../support/wire/tls-sessions.ts";

/** asm-generic/socket.h */
const SO_SNDBUF = 7;

const folder = new CertificateFolder();
let policy: TlsPolicy;
let loop: Loop;
beforeAll(async () => {
  const context = TlsContext.open({ ...(await folder.newPair("main")), library: LIBRARY });
  policy = { session: (fd, alpn) => context.session(fd, alpn), mustStartTls: true };
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
  /** How often the client was reported as readable. */
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
    readable: () => {
      reads++;
      if (client.receive(CHUNK_BYTES) > 0) client.write(answer);
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

test.each(["half", "halfAndEnd"] as const)(
  "a client that leaves a message of TLS unfinished (%s) is disconnected",
  async (mode) => {
    const staged = await stage(mode, 100);
    await loop.until(staged.isBroken);
    await end(staged);
  },
);

test("a client that renews its keys and reads nothing is waited for without polling", async () => {
  const staged = await stage("keys", 100);
  // The answers, which the client does not read, soon fill the socket's buffer.
  libc.setsockopt(staged.client.fd, SOL_SOCKET, SO_SNDBUF, addressOf(new Int32Array([4_096])), 4);
  await loop.until(() => staged.reads() > 0);
  void staged.peer.stdin.write("go on\n");
  await staged.peer.stdin.flush();
  await loop.until(() => staged.reads() > 1);
  let [before, idleTurns] = [-1, 0];
  await loop.until(() => {
    idleTurns = before === staged.reads() ? idleTurns + 1 : 0;
    before = staged.reads();
    return idleTurns > 200;
  });
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
