// Packets of the MySQL protocol: three bytes of length, a sequence id, a payload.
import type { Stream } from "../stream.ts";

/**
 * As much as MariaDB takes before a login (`net_buffer_length`); clients that have not proved anything cannot make the gateway
 * hold more.
 */
const MAX_PAYLOAD_BYTES = 16_384;
const HEADER_BYTES = 4;

/** Thrown when the other side speaks something else. */
export class NotThisProtocol extends Error {
  constructor() {
    super("not the MySQL protocol");
    this.name = "NotThisProtocol";
  }
}

/** Packets over a connection, before commands begin. Both sides count them, each packet being the next one. */
export class PacketStream {
  readonly #stream: Stream;
  #sequence = 0;

  constructor(stream: Stream) {
    this.#stream = stream;
  }

  /**
   * The payload of the next packet; nothing is read beyond it.
   * @throws StreamEnded; NotThisProtocol when it is out of order or longer than 16 KiB.
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
