// Learns a client's state from the engine that is about to be stopped, so that the client can be there when the engine is not.
import { StreamEnded, type Stream } from "../stream.ts";
import { commandBytes } from "./replies.ts";
import { ReplyReader } from "./reply-reader.ts";
import { MAX_NAME_BYTES, type Login, type Session } from "./session.ts";

/**
 * Asked on the client's own connection: the answer comes after all that the client ever sent. The second command is always answered,
 * unless there is a transaction or a subscription; when the first is not, the client had answers switched off.
 */
const QUESTION = commandBytes("CLIENT", "INFO") + commandBytes("CLIENT", "REPLY", "ON");
/** The longest answers to it that are read: a line with names that are too long to be kept is longer. */
const MAX_ANSWER_BYTES = 4 * 1024;
/** Of a client that is nothing but connected, through a unix socket. */
const PLAIN_FLAGS = /^[NU]+$/;

/**
 * Asks for the state and ends the connection to the engine.
 * @param login what the client proved before.
 * @returns null when the client has state that cannot be brought back, such as a subscription or another user, or with names that are too long.
 */
export async function captureSession(
  engine: Stream,
  session: Session,
  login: Login,
): Promise<Session | null> {
  try {
    engine.write(Buffer.from(QUESTION, "latin1"));
    const reader = new ReplyReader(engine, MAX_ANSWER_BYTES);
    const info = await reader.next();
    if (info.type !== "$" && info.type !== "=") return null;
    const last = await reader.next();
    if (last.text !== "OK" || reader.hasMore) return null;
    return sessionOf(info.text, session, login);
  } catch (error) {
    if (error instanceof StreamEnded || error instanceof RangeError) return null;
    throw error;
  } finally {
    engine.end();
  }
}

/**
 * @param info a line of `CLIENT INFO`; names have no spaces, but the path of a socket at its beginning may. A client of Valkey 8.1 that
 *   has told of a capability is not kept.
 */
function sessionOf(info: string, { id }: Session, login: Login): Session | null {
  const match =
    / name=(?<name>\S*) age=\d+ idle=\d+ flags=(?<flags>\S+)(?: capa=)? db=(?<db>\d+) (?<counts>.*) qbuf=.* user=(?<user>\S+) redir=-1 resp=(?<protocol>[23])(?: lib-name=(?<libraryName>\S*) lib-ver=(?<libraryVersion>\S*))?/.exec(
      info,
    );
  if (match?.groups === undefined) return null;
  const { name = "", flags = "", db, counts = "", user, protocol } = match.groups;
  const { libraryName = "", libraryVersion = "" } = match.groups;
  if (!PLAIN_FLAGS.test(flags) || user !== login.user) return null;
  if ([name, libraryName, libraryVersion].some((text) => text.length > MAX_NAME_BYTES)) return null;
  // Valkey 8.1 goes on counting commands, none, after a transaction; the flags tell of one that is open.
  // How many subscriptions, commands of a transaction, and watched keys it has; Redis before 7.4 does not tell of the last.
  if (!/^sub=0 psub=0 ssub=0 multi=(?:-1|0)(?: watch=0)?$/.test(counts)) return null;
  return { id, login, protocol: protocol === "3" ? 3 : 2, db: Number(db), name, libraryName, libraryVersion };
}
