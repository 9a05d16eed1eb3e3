// Splices between clients, in clear and with TLS, and engines that the test controls.
import type { MessageFramer } from "../../../src/gateway/backend.ts";
import type { ClientSocket } from "../../../src/gateway/sockets/client-socket.ts";
import type { SocketStream } from "../../../src/gateway/sockets/socket-stream.ts";
import { Splice } from "../../../src/gateway/sockets/splice.ts";
import type { TlsCertificates } from "../../../src/gateway/tls/certificates.ts";
import { Loop, type Peer } from "./loop.ts";
import { tlsClient } from "../wire/tls-peer.ts";

export const KINDS = ["in clear", "with TLS"] as const;

/** A framer for messages of a length byte and so many bytes. */
export class PrefixFramer implements MessageFramer {
  #left = 0;

  walk(bytes: Uint8Array, length: number): boolean {
    for (let at = 0; at < length;) {
      if (this.#left === 0) this.#left = 1 + (bytes[at] ?? 0);
      const step = Math.min(this.#left, length - at);
      this.#left -= step;
      at += step;
    }
    return true;
  }

  get isBetweenMessages(): boolean {
    return this.#left === 0;
  }
}

/** The reports of a splice to its owner, and its end. */
export class SpliceLog {
  uses = 0;
  ends = 0;
  end: string | null = null;

  splice(client: ClientSocket, engine: SocketStream, framer: MessageFramer | null = null): Splice {
    const owner = { used: () => (this.uses += 1), ended: () => (this.ends += 1) };
    const splice = new Splice(client, engine, framer, owner, true);
    void splice.end.then((end) => (this.end = end));
    return splice;
  }
}

/** Sends as many of the bytes as the kernel takes now. */
export class Sender {
  readonly peer: Peer;
  readonly bytes: Buffer;
  sent = 0;

  constructor(peer: Peer, bytes: Buffer) {
    this.peer = peer;
    this.bytes = bytes;
  }

  /** Continues to send; whether everything was sent. */
  push(): boolean {
    while (this.sent < this.bytes.length) {
      const count = this.peer.send(this.bytes.subarray(this.sent, this.sent + 16_384));
      if (count <= 0) return false;
      this.sent += count;
    }
    return true;
  }
}

/** A client and an engine that can be spliced, and their other ends. */
export class Stage {
  readonly loop: Loop;
  readonly log = new SpliceLog();
  readonly client: ClientSocket;
  readonly peer: Peer;
  readonly engine: SocketStream;
  readonly enginePeer: Peer;
  readonly #engines: { engine: SocketStream; peer: Peer }[] = [];

  private constructor(loop: Loop, { client, peer }: { client: ClientSocket; peer: Peer }) {
    this.loop = loop;
    this.client = client;
    this.peer = peer;
    ({ engine: this.engine, peer: this.enginePeer } = this.newEngine());
  }

  /** @param now the time of the loop. */
  static async open(
    kind: (typeof KINDS)[number],
    certificates: TlsCertificates,
    now: () => number,
  ): Promise<Stage> {
    const loop = new Loop({ now });
    return new Stage(loop, kind === "in clear" ? await loop.client() : await tlsClient(loop, certificates));
  }

  newEngine(): { engine: SocketStream; peer: Peer } {
    const opened = this.loop.engine();
    this.#engines.push(opened);
    return opened;
  }

  /** @throws when code in the loop threw. */
  async close(): Promise<void> {
    this.client.close();
    this.peer.close();
    for (const { engine, peer } of this.#engines) {
      engine.close();
      peer.close();
    }
    await this.loop.rest();
    this.loop.close();
    for (const fault of this.loop.faults) throw fault;
  }
}
