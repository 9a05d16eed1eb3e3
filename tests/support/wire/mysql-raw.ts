// A client of the MySQL protocol that sends any bytes a test gives it, packet by packet.
import { createHash } from "node:crypto";
import { connect, type Socket } from "node:net";

export interface RawPacket {
  sequence: number;
  payload: Buffer;
}

export class RawMysql {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #isClosed = false;
  #changed: () => void = () => undefined;

  /** @param address a port of 127.0.0.1, or the path of a unix socket. */
  constructor(address: number | string) {
    this.#socket =
      typeof address === "number"
        ? connect({ host: "127.0.0.1", port: address, noDelay: true })
        : connect(address);
    this.#socket.on("data", (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#changed();
    });
    this.#socket.on("error", () => undefined);
    this.#socket.on("close", () => {
      this.#isClosed = true;
      this.#changed();
    });
  }

  /** The next packet; null when the connection has ended before. */
  async packet(): Promise<RawPacket | null> {
    for (;;) {
      const length = this.#received.length < 4 ? Infinity : this.#received.readUIntLE(0, 3);
      if (this.#received.length >= 4 + length) {
        const packet = {
          sequence: this.#received.readUInt8(3),
          payload: this.#received.subarray(4, 4 + length),
        };
        this.#received = this.#received.subarray(4 + length);
        return packet;
      }
      if (this.#isClosed) return null;
      await new Promise<void>((resolve) => (this.#changed = resolve));
    }
  }

  /** The next packet, which the test expects. @throws when the connection ends instead. */
  async expectPacket(): Promise<RawPacket> {
    const packet = await this.packet();
    if (packet === null) throw new Error("the connection has ended");
    return packet;
  }

  send(sequence: number, payload: Uint8Array): void {
    void this.write(framed(sequence, payload));
  }

  /** Resolves when the kernel has it. */
  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.write(bytes, () => resolve());
    });
  }

  /** Ends its sending. */
  end(): void {
    this.#socket.end();
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** The salt of a greeting. */
export function saltOf(greeting: Uint8Array): Buffer {
  const bytes = Buffer.from(greeting);
  const start = bytes.indexOf(0) + 5;
  return Buffer.concat([bytes.subarray(start, start + 8), bytes.subarray(start + 27, start + 39)]);
}

/** The proof of a password by mysql_native_password. */
export function nativeToken(password: string, salt: Uint8Array): Buffer {
  const once = sha1(Buffer.from(password));
  const mask = sha1(salt, sha1(once));
  return Buffer.from(once.map((byte, index) => byte ^ (mask[index] ?? 0)));
}

function sha1(...parts: Uint8Array[]): Buffer {
  return createHash("sha1").update(Buffer.concat(parts)).digest();
}

/** A packet in its bytes. */
export function framed(sequence: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(4);
  header.writeUIntLE(payload.length, 0, 3);
  header.writeUInt8(sequence, 3);
  return Buffer.concat([header, payload]);
}

const DEFAULT_FLAGS = 0x0000_0004 | 0x0000_0200 | 0x0000_8000 | 0x0008_0000;

/** The answer of a test's client to a greeting. */
export interface Answer {
  user: string;
  proof?: Uint8Array;
  database?: string;
  plugin?: string;
  attributes?: Record<string, string>;
  /** Flags to set besides the flags that the parts need. */
  flags?: number;
}

/** The payload of a handshake response. */
export function handshakeResponse(answer: Answer): Buffer {
  const {
    user,
    proof = Buffer.alloc(0),
    database,
    plugin = "mysql_native_password",
    attributes,
    flags = 0,
  } = answer;
  const all =
    DEFAULT_FLAGS | flags | (database === undefined ? 0 : 8) | (attributes === undefined ? 0 : 0x10_0000);
  const text = Object.entries(attributes ?? {}).flatMap((pair) =>
    pair.map((word) => Buffer.concat([Buffer.of(word.length), Buffer.from(word)])),
  );
  const attributeBytes = Buffer.concat(text);
  return Buffer.concat([
    fixedPart(all),
    Buffer.from(`${user}\0`),
    Buffer.of(proof.length),
    proof,
    ...(database === undefined ? [] : [Buffer.from(`${database}\0`)]),
    Buffer.from(`${plugin}\0`),
    ...(attributes === undefined ? [] : [Buffer.of(attributeBytes.length), attributeBytes]),
  ]);
}

/** Flags, largest packet, collation and reserved bytes. */
export function fixedPart(flags: number): Buffer {
  const fixed = Buffer.alloc(32);
  fixed.writeUInt32LE(flags >>> 0, 0);
  fixed.writeUInt32LE(1 << 24, 4);
  fixed.writeUInt8(45, 8);
  return fixed;
}
