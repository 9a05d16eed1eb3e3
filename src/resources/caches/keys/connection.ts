// A connection to a cache as its customer's own user, for a few commands within bounds of bytes and time.
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { CacheLogin } from "../login.ts";
import { encodeCommand, ReplyError, ReplyReader, type Reply } from "./resp.ts";

/** The most bytes of all answers of one connection. */
const MAX_ANSWER_BYTES = 16 * 1024 ** 2;

/** A command with its arguments. */
export type Command = readonly (string | Buffer)[];

/** Sends commands; see `withCache`. */
export interface CacheConnection {
  /** Sends commands at once and returns their answers, refusals among them. */
  ask(commands: readonly Command[]): Promise<Reply[]>;
}

/**
 * Logs in, runs `work`, and closes the connection, which also ends commands whose answers are not awaited any more.
 * @throws ReplyError when the engine refuses the login, TooLarge, or the error that ended the connection.
 */
export async function withCache<T>(
  login: CacheLogin,
  signal: AbortSignal,
  work: (cache: CacheConnection) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const socket = open(login);
  const reader = new ReplyReader(MAX_ANSWER_BYTES);
  const abort = () => reader.fail(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
  signal.addEventListener("abort", abort);
  socket.on("data", (chunk: Buffer) => reader.push(chunk));
  socket.on("error", (error) => reader.fail(error));
  socket.on("close", () => reader.fail(new Error("the connection was closed")));
  const ask = async (commands: readonly Command[]) => {
    socket.write(Buffer.concat(commands.map(encodeCommand)));
    const replies: Reply[] = [];
    for (const _ of commands) replies.push(await reader.reply());
    return replies;
  };
  try {
    const [greeting] = await ask([["AUTH", login.username, login.password]]);
    if (greeting instanceof ReplyError) throw greeting;
    return await work({ ask });
  } finally {
    signal.removeEventListener("abort", abort);
    socket.destroy();
  }
}

/** The certificate's name is the operator's choice, as for every login of Pilvi at a customer's address. */
function open({ hostname: host, port, isTls }: CacheLogin): Socket {
  return isTls ? connectTls({ host, port, rejectUnauthorized: false }) : connectTcp({ host, port });
}
