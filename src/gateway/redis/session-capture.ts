// Reads a client's session from the engine before the engine stops, so that the client can outlast the engine.
import type { Route } from "../../contracts/gateway-link.ts";
import type { InstanceUser } from "../../contracts/users.ts";
import { StreamEnded, type Stream } from "../stream.ts";
import type { CommandFramer } from "./framer.ts";
import { commandBytes } from "./replies.ts";
import { ReplyReader } from "./reply-reader.ts";
import { isRight, MAX_NAME_BYTES, type Login, type Session } from "./session.ts";

/**
 * Sent on the client's own connection, so the replies come after the replies to all of the client's commands. The
 * engine answers the second command always, unless there is a transaction or a subscription. A missing reply to the
 * first command means that the client had switched replies off.
 */
const QUESTION = commandBytes("CLIENT", "INFO") + commandBytes("CLIENT", "REPLY", "ON");
/** The longest reply to it; only a line with names too long to be kept is longer. */
const MAX_ANSWER_BYTES = 4 * 1024;
/** The flags of a client without special state (N), connected through a unix socket (U). */
const PLAIN_FLAGS = /^[NU]+$/;

/** A client whose engine is about to stop. */
export interface Captured {
  engine: Stream;
  /** The session before the commands that the framer has followed. */
  session: Session;
  framer: Pick<CommandFramer, "login" | "hasIterated">;
}

/**
 * Reads the session and ends the connection to the engine.
 * @returns null when the client has state that cannot be replayed, such as a subscription, a cursor or names that are
 *   too long, and when no password of the client is known that is right for its user now.
 */
export async function captureSession(
  { engine, session, framer }: Captured,
  { entry }: { entry: Pick<Route, "users"> },
): Promise<Session | null> {
  try {
    if (framer.hasIterated) return null;
    engine.write(Buffer.from(QUESTION, "latin1"));
    const reader = new ReplyReader(engine, MAX_ANSWER_BYTES);
    const info = await reader.next();
    if (info.type !== "$" && info.type !== "=") return null;
    const last = await reader.next();
    if (last.text !== "OK" || reader.hasMore) return null;
    const found = stateIn(info.text);
    const login = found === null ? null : loginAs(found.user, [framer.login, session.login], entry.users);
    if (found === null || login === null) return null;
    // The engine marks the format of a text in RESP3 only; before version 7 it names its protocol nowhere else.
    return { id: session.id, login, protocol: info.type === "=" ? 3 : 2, ...found.state };
  } catch (error) {
    if (error instanceof StreamEnded || error instanceof RangeError) return null;
    throw error;
  } finally {
    engine.end();
  }
}

/** The first of the logins that is right for the user that the engine has for the client. */
function loginAs(name: string, logins: (Login | null)[], users: InstanceUser[]): Login | null {
  return logins.find((login) => login?.user === name && isRight(login, users)) ?? null;
}

type State = Pick<Session, "db" | "name" | "libraryName" | "libraryVersion">;

/**
 * @param info a line of `CLIENT INFO`; names have no spaces, but the path of a socket at its beginning may. A session
 *   with capabilities (`capa=`, Valkey 8.1) is not kept.
 */
function stateIn(info: string): { user: string; state: State } | null {
  const match =
    / name=(?<name>\S*) age=\d+ idle=\d+ flags=(?<flags>\S+)(?: capa=)? db=(?<db>\d+) (?<counts>.*) qbuf=.* user=(?<user>\S+) redir=-1(?: resp=[23](?: lib-name=(?<libraryName>\S*) lib-ver=(?<libraryVersion>\S*))?|\s*$)/.exec(
      info,
    );
  if (match?.groups === undefined) return null;
  const { name = "", flags = "", db, counts = "", user = "" } = match.groups;
  const { libraryName = "", libraryVersion = "" } = match.groups;
  if (!PLAIN_FLAGS.test(flags)) return null;
  if ([name, libraryName, libraryVersion].some((text) => text.length > MAX_NAME_BYTES)) return null;
  // No subscriptions, of which Redis before 7 has two kinds, no queued commands, no watched keys; Redis before 7.4 has no
  // count of watched keys. After a transaction Valkey 8.1 reports 0 queued commands instead of -1; an open transaction
  // shows in the flags.
  if (!/^sub=0 psub=0(?: ssub=0)? multi=(?:-1|0)(?: watch=0)?$/.test(counts)) return null;
  return { user, state: { db: Number(db), name, libraryName, libraryVersion } };
}
