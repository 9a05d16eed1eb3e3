// Packets of the MySQL protocol: three bytes of length, a sequence id, a payload.
import type { Stream } from "../stream.ts";

/**
 * MariaDB's own limit before a login (`net_buffer_length`); it bounds the memory of a client before its login.
 */
const MAX_PAYLOAD_BYTES = 16_384;
const HEADER_BYTES = 4;

/** Thrown when the other side speaks another protocol. */
export class NotThisProtocol extends Error {
  constructor() {
    super("not the MySQL protocol");
    this.name = "NotThisProtocol";
  }
}

/** The packets of a login. Both sides number them together, in their order. */
export class PacketStream {
  readonly #stream: Stream;
  #sequence = 0;

  constructor(stream: Stream) {
    this.#stream = stream;
  }

  /**
   * The payload of the next packet; later bytes stay unread.
   * @throws StreamEnded; NotThisProtocol when the packet is out of order or longer than 16 KiB.
   */
  async receive(): Promise<Uint8Array> {
    const [low = 0, middle = 0, high = 0, sequence] = await this.#stream.read(HEADER_BYTES);
    const length = low | (middle << 8) | (high << 16);
    if (sequence !== this.#sequence || length > MAX_PAYLOAD_BYTES) throw new NotThisProtocol();
    this.#sequence = (this.#sequence + 1) & 0xff;
    return length === 0 ? new Uint8Array(0) : await this.#stream.read(length);
  }

  /** @param payload shorter than 16 MB. */
  send(payload: Uint8Array): void {
    const packet = new Uint8Array(HEADER_BYTES + payload.length);
    packet.set([payload.length, payload.length >> 8, payload.length >> 16, this.#sequence]);
    packet.set(payload, HEADER_BYTES);
    this.#sequence = (this.#sequence + 1) & 0xff;
    this.#stream.write(packet);
  }
}
