// A client of Postgres that sends exactly the bytes of a test, byte by byte where it matters.
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { saslInitialResponse, saslResponse, startupMessage } from "../../../src/gateway/postgres/messages.ts";

/** A message of a server. */
export interface BackendMessage {
  type: string;
  body: Buffer;
}

export class RawPostgres {
  readonly socket: Socket;
  #bytes: Buffer = Buffer.alloc(0);
  #isEnded = false;
  #changed = Promise.withResolvers<void>();

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (bytes: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, bytes]);
      this.#change();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#isEnded = true;
      this.#change();
    });
  }

  static async open(port: number): Promise<RawPostgres> {
    const socket = connect(port, "127.0.0.1").setNoDelay(true);
    const client = new RawPostgres(socket);
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return client;
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  send(bytes: Uint8Array): void {
    this.socket.write(bytes);
  }

  /** All bytes up to the end of the connection. */
  async rest(): Promise<Buffer> {
    while (!this.#isEnded) await this.#changed.promise;
    const bytes = this.#bytes;
    this.#bytes = Buffer.alloc(0);
    return bytes;
  }

  async read(length: number): Promise<Buffer> {
    while (this.#bytes.length < length) {
      if (this.#isEnded)
        throw new Error(`the connection ended after ${JSON.stringify(this.#bytes.toString())}`);
      await this.#changed.promise;
    }
    const bytes = this.#bytes.subarray(0, length);
    this.#bytes = this.#bytes.subarray(length);
    return bytes;
  }

  async next(): Promise<BackendMessage> {
    const header = await this.read(5);
    const body = await this.read(header.readInt32BE(1) - 4);
    return { type: header.toString("latin1", 0, 1), body };
  }

  /** All messages up to one of this type. */
  async until(type: string): Promise<BackendMessage[]> {
    const received: BackendMessage[] = [];
    do received.push(await this.next());
    while (received.at(-1)?.type !== type);
    return received;
  }

  /** Begins a login by password, and reads the challenge: nonce, salt and iterations. */
  async challenge(user: string): Promise<string> {
    this.send(startupMessage([["user", user]]));
    await this.until("R");
    this.send(saslInitialResponse("SCRAM-SHA-256", "n,,n=,r=abcdef"));
    return (await this.next()).body.toString("latin1", 4);
  }

  /**
   * Logs in after the first packet, as far as the server allows.
   * @param then is sent directly behind the proof.
   * @returns the messages from the end of the authentication on.
   */
  async prove(password: string, then: Uint8Array = Buffer.alloc(0)): Promise<BackendMessage[]> {
    const offer = await this.until("R");
    const nonce = randomBytes(12).toString("base64");
    this.send(saslInitialResponse("SCRAM-SHA-256", `n,,n=,r=${nonce}`));
    const challenge = await this.next();
    if (challenge.type === "E") return [...offer, challenge];
    const answer = saslResponse(answerTo(challenge.body.toString("latin1", 4), nonce, password));
    this.send(Buffer.concat([answer, then]));
    const received: BackendMessage[] = [];
    do received.push(await this.next());
    while (!"EZ".includes(received.at(-1)?.type ?? ""));
    return received;
  }

  close(): void {
    this.socket.destroy();
  }
}

function answerTo(challenge: string, nonce: string, password: string): string {
  const [, both = "", salt = "", iterations = ""] = /^r=(.*),s=(.*),i=(.*)$/.exec(challenge) ?? [];
  const salted = pbkdf2Sync(password, Buffer.from(salt, "base64"), Number(iterations), 32, "sha256");
  const clientKey = createHmac("sha256", salted).update("Client Key").digest();
  const storedKey = createHash("sha256").update(clientKey).digest();
  const signed = `n=,r=${nonce},${challenge},c=biws,r=${both}`;
  const signature = createHmac("sha256", storedKey).update(signed).digest();
  const proof = Buffer.from(clientKey.map((byte, index) => byte ^ (signature[index] ?? 0)));
  return `c=biws,r=${both},p=${proof.toString("base64")}`;
}

/** The first packet of protocol 3.0, or of another version. */
export function startup(parameters: Record<string, string>, version = 0x3_0000): Buffer {
  const bytes = startupMessage(Object.entries(parameters));
  bytes.writeUInt32BE(version, 4);
  return bytes;
}

/** The fields of an ErrorResponse by their types. */
export function errorOf({ type, body }: BackendMessage | undefined = { type: "", body: Buffer.alloc(0) }) {
  if (type !== "E") throw new Error(`it is a message of type ${JSON.stringify(type)}, not an error`);
  const fields = body
    .toString()
    .split("\0")
    .filter((field) => field !== "");
  return Object.fromEntries(fields.map((field) => [field[0], field.slice(1)]));
}
