// A connection to an engine of which bytes are read on demand, and no more than a budget: what is not read waits in the
// kernel, so an engine with an endless answer fills no memory here.
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { BudgetSpent, ConnectionLost } from "./faults.ts";

/** Bytes that may wait here before the socket is paused. */
const BUFFERED_BYTES = 262_144;

export interface Address {
  hostname: string;
  port: number;
}

export class Wire {
  readonly #address: Address;
  #socket: Socket;
  #chunks: Buffer[] = [];
  #buffered = 0;
  #budget = Infinity;
  #failure: Error | undefined;
  #isOpen = false;
  #wake: () => void = () => undefined;
  #isTls = false;

  private constructor(address: Address) {
    this.#address = address;
    this.#socket = connect({ host: address.hostname, port: address.port, noDelay: true });
    this.#follow(this.#socket, "connect");
  }

  /** @param opened gets the wire at once, so that it can be destroyed while it connects. */
  static async open(address: Address, opened: (wire: Wire) => void = () => undefined): Promise<Wire> {
    const wire = new Wire(address);
    opened(wire);
    await wire.#untilOpen();
    return wire;
  }

  get address(): Address {
    return this.#address;
  }

  get isTls(): boolean {
    return this.#isTls;
  }

  /** From now on only so many bytes are read; the read that goes beyond throws BudgetSpent. */
  set budget(bytes: number) {
    this.#budget = bytes;
  }

  /**
   * Encrypts the rest of the connection. The certificate's name is the operator's choice, and the address is that of
   * this Pilvi's own gateway, so the certificate is not checked.
   * @throws ConnectionLost
   */
  async startTls(): Promise<void> {
    if (this.#buffered > 0) throw new ConnectionLost("bytes came before the encryption began");
    this.#socket.removeAllListeners();
    // An error without a listener would end the process.
    this.#socket.on("error", (error) => this.destroy(error));
    this.#isOpen = false;
    const { hostname } = this.#address;
    this.#socket = connectTls({ socket: this.#socket, rejectUnauthorized: false, host: hostname });
    this.#follow(this.#socket, "secureConnect");
    await this.#untilOpen();
    this.#isTls = true;
  }

  write(bytes: Uint8Array): void {
    if (this.#failure === undefined) this.#socket.write(bytes);
  }

  /** Exactly so many bytes. @throws ConnectionLost, BudgetSpent */
  async read(length: number): Promise<Buffer> {
    this.#spend(length);
    while (this.#buffered < length) await this.#more();
    return this.#take(length);
  }

  /** Drops so many bytes. @throws ConnectionLost, BudgetSpent */
  async skip(length: number): Promise<void> {
    for (let left = length; left > 0;) {
      if (this.#buffered === 0) await this.#more();
      const part = Math.min(left, this.#buffered);
      this.#spend(part);
      this.#drop(part);
      left -= part;
    }
  }

  destroy(reason: Error = new ConnectionLost("the connection was closed")): void {
    this.#failure ??= reason;
    this.#socket.destroy();
    this.#wake();
  }

  #follow(socket: Socket, opening: "connect" | "secureConnect"): void {
    socket.on(opening, () => {
      this.#isOpen = true;
      this.#wake();
    });
    socket.on("data", (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#buffered += chunk.length;
      if (this.#buffered > BUFFERED_BYTES) socket.pause();
      this.#wake();
    });
    socket.on("error", (error) => this.destroy(error));
    socket.on("close", () => this.destroy());
  }

  async #untilOpen(): Promise<void> {
    while (!this.#isOpen) await this.#change();
  }

  async #more(): Promise<void> {
    this.#socket.resume();
    await this.#change();
  }

  async #change(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await promise;
  }

  #spend(length: number): void {
    this.#budget -= length;
    if (this.#budget < 0) throw new BudgetSpent("the answer is larger than what is read of it");
  }

  #take(length: number): Buffer {
    const [first] = this.#chunks;
    if (first !== undefined && first.length > length) {
      this.#chunks[0] = first.subarray(length);
      this.#buffered -= length;
      return first.subarray(0, length);
    }
    const taken = Buffer.concat(this.#chunks, this.#buffered).subarray(0, length);
    this.#drop(length);
    return taken;
  }

  #drop(length: number): void {
    this.#buffered -= length;
    for (let left = length; left > 0;) {
      const [first] = this.#chunks;
      if (first === undefined) return;
      if (first.length > left) {
        this.#chunks[0] = first.subarray(left);
        return;
      }
      this.#chunks.shift();
      left -= first.length;
    }
  }
}
