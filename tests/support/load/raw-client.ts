// Clients without a password, or of another protocol: connections on which a test sends any bytes.
import { randomBytes } from "node:crypto";
import type { Socket } from "bun";
import { cancelRequest, saslInitialResponse, saslResponse } from "../../../src/gateway/postgres/messages.ts";
import { framed, handshakeResponse } from "../wire/mysql-raw.ts";
import { startup } from "../wire/postgres-raw.ts";

export type Protocol = "postgres" | "mysql" | "redis";

export class RawClient {
  #socket: Socket<RawClient> | null = null;
  #received: Buffer = Buffer.alloc(0);
  #isEnded = false;
  #wake: () => void = () => {};

  static async open(port: number, hostname = "127.0.0.1"): Promise<RawClient> {
    const client = new RawClient();
    const socket = {
      binaryType: "buffer" as const,
      data: (_: Socket<RawClient>, bytes: Buffer) => client.#receive(bytes),
      end: (ended: Socket<RawClient>) => {
        ended.end();
        client.#end();
      },
      close: () => client.#end(),
      error: () => client.#end(),
    };
    client.#socket = await Bun.connect<RawClient>({ hostname, port, socket, data: client });
    return client;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  get received(): Buffer {
    return this.#received;
  }

  /** Bytes that the kernel does not take at once are lost. */
  write(bytes: Uint8Array | string): void {
    this.#socket?.write(bytes);
  }

  /** Waits until bytes have arrived. @returns false when the other side closes before. */
  async until(holds: (received: Buffer) => boolean): Promise<boolean> {
    while (!holds(this.#received)) {
      if (this.#isEnded) return false;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return true;
  }

  /** All bytes that arrive until the other side closes. */
  async rest(): Promise<Buffer> {
    await this.until(() => false);
    return this.#received;
  }

  /** Ends its sending, and reads the other side to its end. */
  async finish(): Promise<Buffer> {
    this.#socket?.shutdown();
    return await this.rest();
  }

  close(): void {
    this.#socket?.terminate();
    this.#end();
  }

  #receive(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    this.#wake();
  }

  #end(): void {
    this.#isEnded = true;
    this.#wake();
  }
}

/** Tries a wrong password, with no more work than an attacker has. @returns the server's last message. */
export async function tryWrongPassword(protocol: Protocol, port: number, user: string): Promise<string> {
  const client = await RawClient.open(port);
  try {
    await ATTEMPTS[protocol](client, user);
    return client.received.toString("latin1");
  } finally {
    client.close();
  }
}

const ATTEMPTS: Record<Protocol, (client: RawClient, user: string) => Promise<unknown>> = {
  async postgres(client, user) {
    const proof = await beginLogin(client, user);
    client.write(saslResponse(`c=biws,r=${proof.nonce},p=${randomBytes(32).toString("base64")}`));
    return await client.rest();
  },
  async mysql(client, user) {
    await client.until((received) => received.length > 4 && received.length >= 4 + received.readUIntLE(0, 3));
    client.write(framed(1, handshakeResponse({ user, proof: randomBytes(20) })));
    return await client.rest();
  },
  async redis(client, user) {
    client.write(`AUTH ${user} ${randomBytes(16).toString("hex")}\r\n`);
    return await client.until((received) => received.includes("\r\n"));
  },
};

/** Takes a login to Postgres as far as is possible without a password. @returns the nonce of both sides. */
export async function beginLogin(client: RawClient, user: string): Promise<{ nonce: string }> {
  client.write(startup({ user, database: "main" }));
  await client.until((received) => received.includes("SCRAM-SHA-256\0"));
  client.write(saslInitialResponse("SCRAM-SHA-256", "n,,n=,r=hostilenonce"));
  await client.until((received) => received.includes("i=4096"));
  return { nonce: /r=([^,]*)/.exec(client.received.toString("latin1"))?.[1] ?? "" };
}

/** The same numbers in each run (xorshift32). */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

const HTTP = Buffer.from("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n");
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f]);
const GSS_REQUEST = Buffer.from([0, 0, 0, 8, 4, 0xd2, 0x16, 0x30]);

/** Bytes that begin like a TLS handshake and go on otherwise. */
const TLS_GARBAGE = Buffer.concat([Buffer.of(0x16, 3, 1, 2, 0), Buffer.alloc(512, 0xaa)]);

/** First bytes of another protocol, or invalid first bytes of this protocol. */
export const NONSENSE: Record<Protocol, Record<string, Uint8Array>> = {
  postgres: {
    HTTP: HTTP,
    "TLS garbage": TLS_GARBAGE,
    "a packet without an end": Buffer.of(0x7f, 0xff, 0xff, 0xff, 0, 3, 0, 0),
    "a packet of a negative length": Buffer.of(0xff, 0xff, 0xff, 0xff, 0, 3, 0, 0),
    "a packet that is too short": Buffer.of(0, 0, 0, 4),
    "clear text behind a request for TLS": Buffer.concat([SSL_REQUEST, startup({ user: "app" })]),
    "garbage behind a request for TLS": Buffer.concat([SSL_REQUEST, TLS_GARBAGE]),
    "two requests for GSSAPI": Buffer.concat([GSS_REQUEST, GSS_REQUEST]),
    "a cancel of nothing": cancelRequest(4_711, randomBytes(4)),
    "a cancel with a key of 64 kB": cancelRequest(4_711, Buffer.alloc(65_536)),
    "parameters without an end": startup({ user: "app" }).fill(0x61, 8),
    "an ancient version": startup({ user: "app" }, 0x2_0000),
    "a login with a password in clear": Buffer.concat([
      startup({ user: "app" }),
      saslInitialResponse("PLAIN", "\0app\0secret"),
    ]),
  },
  mysql: {
    HTTP: HTTP,
    "TLS garbage": TLS_GARBAGE,
    "a packet without an end": Buffer.of(0xff, 0xff, 0xff, 1, 0),
    "an empty packet": framed(1, Buffer.alloc(0)),
    "a packet out of order": framed(7, handshakeResponse({ user: "app" })),
    "a response that is cut short": framed(1, handshakeResponse({ user: "app" }).subarray(0, 40)),
    "a command before the login": framed(0, Buffer.from("\u0003select 1")),
    "a change of the user before the login": framed(0, Buffer.from("\u0011root\0\0")),
  },
  redis: {
    HTTP: HTTP,
    "TLS garbage": TLS_GARBAGE,
    "more arguments than there are": Buffer.from("*2147483647\r\n"),
    "an argument without an end": Buffer.from("*2\r\n$4\r\nAUTH\r\n$536870912\r\n"),
    "a command that goes on and on": Buffer.from(`*10\r\n${`$16000\r\n${"a".repeat(16_000)}\r\n`.repeat(3)}`),
    "a length that is none": Buffer.from("*x\r\n"),
    "a line without an end": Buffer.alloc(70_000, 0x61),
    "an open quote": Buffer.from('AUTH "app\r\n'),
  },
};
