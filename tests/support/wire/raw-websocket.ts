// A WebSocket client that sends valid or invalid frames, written byte by byte by RFC 6455.
import { connect, type Socket } from "node:net";
import { until } from "../pilvi/pilvi.ts";
import { APP } from "../engines/realtime.ts";

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface RawFrame {
  opcode: number;
  payload: Buffer;
}

export interface FrameOptions {
  /** False says that more of the message follows. */
  isLast?: boolean;
  isMasked?: boolean;
  /** The three reserved bits. */
  reserved?: number;
}

const USUAL_PATH = `/app/${APP.key}?protocol=7&client=raw&version=1.0`;

/** A frame as a client sends it. */
export function frameOf(opcode: number, payload: string | Buffer, options: FrameOptions = {}): Buffer {
  const { isLast = true, isMasked = true, reserved = 0 } = options;
  const data = Buffer.from(payload as string);
  const first = (isLast ? 0x80 : 0) | (reserved << 4) | opcode;
  const length = lengthOf(data.length);
  const mask = Buffer.from([0x12, 0x34, 0x56, 0x78]);
  length[0] = (length[0] ?? 0) | (isMasked ? 0x80 : 0);
  if (!isMasked) return Buffer.concat([Buffer.from([first]), length, data]);
  const masked = data.map((byte, index) => byte ^ (mask[index % 4] ?? 0));
  return Buffer.concat([Buffer.from([first]), length, mask, masked]);
}

/** A message of the protocol as a frame. */
export function messageOf(event: string, data?: unknown, channel?: string): Buffer {
  return frameOf(OPCODE.text, JSON.stringify({ event, data, channel }));
}

/** The request with which a client asks for a WebSocket. */
export function handshakeOf(path = USUAL_PATH, headers: Record<string, string> = {}): string {
  const all = {
    Host: "127.0.0.1",
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

export interface RawOptions {
  path?: string;
  headers?: Record<string, string>;
  /** Written together with the handshake. */
  more?: Buffer;
}

export class RawWebSocket {
  /** All whole frames so far. */
  readonly frames: RawFrame[] = [];
  /** Whether the server has ended the connection, for any reason. */
  isEnded = false;
  readonly socket: Socket;
  #head: string | null = null;
  #rest = Buffer.alloc(0);

  constructor(port: number) {
    // Half open, so that it does not end the connection when the server does.
    this.socket = connect({ host: "127.0.0.1", port, noDelay: true, allowHalfOpen: true });
    this.socket.on("data", (chunk: Buffer) => this.#take(chunk));
    for (const event of ["end", "close"]) this.socket.on(event, () => (this.isEnded = true));
    this.socket.on("error", () => (this.isEnded = true));
  }

  /** Connects and resolves when the server has answered the handshake. */
  static async connect(port: number, { path, headers, more }: RawOptions = {}): Promise<RawWebSocket> {
    const client = new RawWebSocket(port);
    const request = Buffer.from(handshakeOf(path, headers));
    client.write(more === undefined ? request : Buffer.concat([request, more]));
    await until("the handshake is answered", () => client.head !== null || client.isEnded);
    return client;
  }

  /** Connects and resolves when the protocol's greeting has arrived. */
  static async greeted(port: number, options: RawOptions = {}): Promise<RawWebSocket> {
    const client = await RawWebSocket.connect(port, options);
    await client.event("pusher:connection_established");
    return client;
  }

  /** The head of the server's answer. */
  get head(): string | null {
    return this.#head;
  }

  /** The events so far. */
  get events(): { event: string; channel?: string; data?: unknown }[] {
    return this.frames
      .filter(({ opcode }) => opcode === OPCODE.text)
      .map(({ payload }) => JSON.parse(payload.toString()) as { event: string });
  }

  /** The id of this connection in the greeting. */
  get socketId(): string {
    const greeting = this.events.find(({ event }) => event === "pusher:connection_established");
    return (JSON.parse(String(greeting?.data)) as { socket_id: string }).socket_id;
  }

  /** The code of the server's close; null before it, or without a code. */
  get closeCode(): number | null {
    const frame = this.frames.find(({ opcode }) => opcode === OPCODE.close);
    return frame === undefined || frame.payload.length < 2 ? null : frame.payload.readUInt16BE(0);
  }

  write(bytes: Buffer | string): void {
    this.socket.write(bytes);
  }

  /** Subscribes to a public channel and waits until that is done. */
  async subscribe(channel: string): Promise<void> {
    this.write(messageOf("pusher:subscribe", { channel }));
    await until(`subscribed to ${channel}`, () =>
      this.events.some(
        (each) => each.event === "pusher_internal:subscription_succeeded" && each.channel === channel,
      ),
    );
  }

  /** Waits for an event of the name. */
  async event(name: string): Promise<void> {
    await until(`the event ${name}`, () => this.isEnded || this.events.some(({ event }) => event === name));
    if (!this.events.some(({ event }) => event === name)) throw new Error(`ended before ${name}`);
  }

  /** Waits until the server has closed. @returns its code. */
  async closed(timeoutMs?: number): Promise<number | null> {
    await until("the server has closed", () => this.isEnded, timeoutMs);
    return this.closeCode;
  }

  /** Whether the connection still works: a ping is answered. */
  async isServed(): Promise<boolean> {
    const pongs = () => this.events.filter(({ event }) => event === "pusher:pong").length;
    const before = pongs();
    this.write(messageOf("pusher:ping", {}));
    await until("a pong or the end", () => this.isEnded || pongs() > before);
    return pongs() > before;
  }

  destroy(): void {
    this.socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    if (this.#head === null) {
      const end = this.#rest.indexOf("\r\n\r\n");
      if (end === -1) return;
      this.#head = this.#rest.subarray(0, end).toString();
      this.#rest = this.#rest.subarray(end + 4);
    }
    if (this.#head.startsWith("HTTP/1.1 101")) this.#readFrames();
  }

  #readFrames(): void {
    for (;;) {
      const [first = 0, second = 0] = this.#rest;
      const header = second < 126 ? 2 : second === 126 ? 4 : 10;
      if (this.#rest.length < header) return;
      const length =
        header === 2
          ? second
          : header === 4
            ? this.#rest.readUInt16BE(2)
            : Number(this.#rest.readBigUInt64BE(2));
      if (this.#rest.length < header + length) return;
      this.frames.push({
        opcode: first & 0x0f,
        payload: Buffer.from(this.#rest.subarray(header, header + length)),
      });
      this.#rest = this.#rest.subarray(header + length);
    }
  }
}

function lengthOf(length: number): Buffer {
  if (length < 126) return Buffer.from([length]);
  if (length < 65_536) return Buffer.from([126, length >> 8, length & 0xff]);
  const bytes = Buffer.alloc(9);
  bytes[0] = 127;
  bytes.writeBigUInt64BE(BigInt(length), 1);
  return bytes;
}
