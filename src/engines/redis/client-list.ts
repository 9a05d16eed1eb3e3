// The clients of a running Redis or Valkey, read one by one: together with their names they may be as long as customers like.
import type { Socket } from "bun";
import type { CacheSpec } from "../../drivers/driver.ts";
import { withSocket } from "../../lib/unix-socket.ts";
import { BeyondBounds, type EngineContext } from "../engine.ts";
import { ADMIN_NAME } from "./config.ts";

/** What all clients together may be told with: ten thousand of them, with names of more than a thousand characters. */
const MAX_LIST_BYTES = 16 * 1024 ** 2;

/** What one client may be told with. */
const MAX_LINE_BYTES = 64 * 1024;

/** An answer before the list, or how long the list is. */
const MAX_HEAD_BYTES = 1_024;

const TIMEOUT_MS = 10_000;

/** The fields of a client, by their names. */
export type Client = Record<string, string>;

/**
 * Calls back with each client but the host itself, until it returns true or there are no more.
 * @throws BeyondBounds when the list is too long, of which nothing is read then; Error when the engine does not answer.
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
        // An engine closes the connection of whoever is owed more than it holds for all its clients.
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

/** The parts of a text that each have a name, a sign and a value. */
export function fieldsOf(text: string, between: string, sign: string): Record<string, string> {
  const pairs = text.split(between).map((pair): [string, string] => {
    const end = pair.indexOf(sign);
    return [pair.slice(0, Math.max(0, end)), pair.slice(end + 1)];
  });
  return Object.fromEntries(pairs);
}

/** The answers to a login and to `CLIENT LIST`, however they are cut. */
export class ClientList {
  readonly #onLine: (line: string) => boolean;
  #isLoggedIn = false;
  /** How much of the list is to come; null as long as that is not known. */
  #bytesLeft: number | null = null;
  /** What has come of a line whose end has not. */
  #partial: Buffer<ArrayBufferLike> = Buffer.alloc(0);

  /** Whether the list is what is waited for. */
  get isLoggedIn(): boolean {
    return this.#isLoggedIn;
  }

  /** @param onLine returns true when no more need be read. */
  constructor(onLine: (line: string) => boolean) {
    this.#onLine = onLine;
  }

  /** @returns whether all that is needed was read. @throws BeyondBounds; Error when it is not what was asked for. */
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
    // The bytes that came are the runtime's, to be used again.
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

  /** The list has a line for each client; an empty one closes the answer. */
  #takeClient(line: string): boolean {
    this.#bytesLeft = Math.max(0, (this.#bytesLeft ?? 0) - line.length - 1);
    return (line !== "" && this.#onLine(line)) || this.#bytesLeft === 0;
  }
}

function tooLong(): BeyondBounds {
  return new BeyondBounds(
    "The names that the cache's clients gave themselves are too long, so it cannot be told who uses it.",
  );
}
