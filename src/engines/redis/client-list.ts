// Reads the clients of a running Redis or Valkey one by one, since their names make the list as long as customers like.
import type { Socket } from "bun";
import type { CacheSpec } from "../../contracts/instance-spec.ts";
import { withSocket } from "../../lib/unix-socket.ts";
import { BeyondBounds } from "../engine-errors.ts";
import type { EngineContext } from "../engine.ts";
import { ADMIN_NAME } from "./config.ts";

/** The longest list: ten thousand clients, with names of more than a thousand characters. */
const MAX_LIST_BYTES = 16 * 1024 ** 2;

/** The longest line about one client. */
const MAX_LINE_BYTES = 64 * 1024;

/** The longest line before the list: the answer to the login, or the length of the list. */
const MAX_HEAD_BYTES = 1_024;

const TIMEOUT_MS = 10_000;

/** The fields of a client, by name. */
export type Client = Record<string, string>;

/**
 * Calls back with each client except the host itself, until it returns true or the list ends.
 * @throws BeyondBounds when the list is too long, before any of it is read; Error when the engine does not answer.
 */
export async function eachClient(
  { paths, adminPassword }: EngineContext<CacheSpec>,
  take: (client: Client) => boolean,
): Promise<void> {
  let isAsked = false;
  await withSocket(paths.socket, async (unix) => {
    const end = Promise.withResolvers<void>();
    const list = new ClientList((line) => isTaken(line, take));
    const socket = await Bun.connect({
      unix,
      socket: {
        open: (opened) => void opened.write(`AUTH ${ADMIN_NAME} ${adminPassword}\r\n`),
        data: (from, bytes) =>
          void attempt(from, end, () => {
            if (list.take(bytes)) end.resolve();
            if (list.isLoggedIn && !isAsked) isAsked = from.write("CLIENT LIST\r\n") > 0;
          }),
        // An engine closes the connection when the answers that its clients have not read exceed their memory.
        close: () => end.reject(list.isLoggedIn ? tooLong() : new Error("the cache closed the connection")),
        error: (_, error) => end.reject(error),
      },
    });
    const timer = setTimeout(() => end.reject(new Error("the cache does not answer")), TIMEOUT_MS);
    await end.promise.finally(() => {
      clearTimeout(timer);
      socket.terminate();
    });
  });
}

function attempt(socket: Socket<undefined>, end: PromiseWithResolvers<void>, step: () => void): void {
  try {
    step();
  } catch (error) {
    end.reject(error);
    socket.terminate();
  }
}

function isTaken(line: string, take: (client: Client) => boolean): boolean {
  const client = fieldsOf(line, " ", "=");
  return client.user !== ADMIN_NAME && take(client);
}

/** The pairs of a text, each of a name, a sign and a value. */
export function fieldsOf(text: string, between: string, sign: string): Record<string, string> {
  const pairs = text.split(between).map((pair): [string, string] => {
    const end = pair.indexOf(sign);
    return [pair.slice(0, Math.max(0, end)), pair.slice(end + 1)];
  });
  return Object.fromEntries(pairs);
}

/** The answers to a login and to `CLIENT LIST`, wherever they are cut. */
export class ClientList {
  readonly #onLine: (line: string) => boolean;
  #isLoggedIn = false;
  /** How many bytes of the list are still to come; null until that is known. */
  #bytesLeft: number | null = null;
  /** The beginning of a line whose end has not arrived. */
  #partial: Buffer<ArrayBufferLike> = Buffer.alloc(0);

  /** Whether the login has succeeded, so that the list comes next. */
  get isLoggedIn(): boolean {
    return this.#isLoggedIn;
  }

  /** @param onLine returns true when the rest need not be read. */
  constructor(onLine: (line: string) => boolean) {
    this.#onLine = onLine;
  }

  /**
   * @returns whether all that is needed was read.
   * @throws BeyondBounds; Error when the answer is not a list of clients.
   */
  take(bytes: Uint8Array): boolean {
    let rest: Buffer<ArrayBufferLike> =
      this.#partial.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#partial, bytes]);
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
      const line = rest.toString("latin1", 0, end);
      rest = rest.subarray(end + 1);
      if (this.#bytesLeft === null) this.#takeHead(line.trimEnd());
      else if (this.#takeClient(line)) return true;
    }
    if (this.#bytesLeft === null && rest.length > MAX_HEAD_BYTES) throw new Error("the answer is too long");
    if (rest.length > MAX_LINE_BYTES) throw tooLong();
    // The runtime uses the memory of the bytes again.
    this.#partial = Buffer.from(rest);
    return this.#bytesLeft === 0;
  }

  #takeHead(line: string): void {
    if (line.startsWith("-")) throw new Error(`the cache refused: ${line.slice(1)}`);
    if (!this.#isLoggedIn) return void (this.#isLoggedIn = line === "+OK");
    const length = /^\$(\d+)$/.exec(line)?.[1];
    if (length === undefined) throw new Error("the answer is no list of clients");
    this.#bytesLeft = Number(length);
    if (this.#bytesLeft > MAX_LIST_BYTES) throw tooLong();
  }

  /** Each client has a line; an empty line closes the answer. */
  #takeClient(line: string): boolean {
    this.#bytesLeft = Math.max(0, (this.#bytesLeft ?? 0) - line.length - 1);
    return (line !== "" && this.#onLine(line)) || this.#bytesLeft === 0;
  }
}

function tooLong(): BeyondBounds {
  return new BeyondBounds(
    "The names that the cache's clients gave themselves are too long, so its users cannot be named.",
  );
}
