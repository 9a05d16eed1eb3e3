// The commands that need no engine, answered as the engine would: libraries send them to connect and to keep alive.
import type { Route } from "../../contracts/gateway-link.ts";
import { wrongCount, type Answer } from "./answer.ts";
import { clientAnswer } from "./client-command.ts";
import { authAnswer, helloAnswer } from "./login.ts";
import { bulkReply, errorReply, OK } from "./replies.ts";
import { strictInteger } from "./resp.ts";
import type { Session } from "./session.ts";

/** The engine's default, which the host's settings leave unchanged. */
const DATABASES = 16;

type Handler = (args: string[], session: Session, entry: Route) => Answer | null;

/** No command of these counts as use of a cache, so a pool that connects again leaves the cache asleep. */
const HANDLERS = new Map<string, Handler>([
  ["auth", authAnswer],
  ["client", clientAnswer],
  ["echo", echo],
  ["hello", helloAnswer],
  ["ping", ping],
  ["quit", (_, session) => ({ reply: OK, session, isLast: true })],
  ["reset", reset],
  ["select", select],
]);
const WITHOUT_LOGIN = new Set(["auth", "hello", "quit", "reset"]);
/** Words of HTTP requests, which a hostile page makes browsers send to any port; the engine closes in silence. */
const OF_HTTP = new Set(["post", "host:"]);

/** Whether the command only checks the connection, so the gateway may always answer it. @param name in any case. */
export function isKeepAlive(name: string): boolean {
  return ["ping", "echo"].includes(name.toLowerCase());
}

/** Whether the gateway may be able to answer the command. @param name in any case. */
export function isLocal(name: string): boolean {
  return HANDLERS.has(name.toLowerCase());
}

/**
 * Answers a command without the engine.
 * @param args the name and its arguments; one character is a byte.
 * @returns null when only the engine can answer it.
 */
export function answerOf(args: string[], session: Session, entry: Route): Answer | null {
  const name = (args[0] ?? "").toLowerCase();
  if (session.login !== null) return HANDLERS.get(name)?.(args, session, entry) ?? null;
  if (OF_HTTP.has(name)) return { reply: "", session, isLast: true };
  // The engine shows its commands and their arities even before a login; the gateway shows them to no such client.
  if (!WITHOUT_LOGIN.has(name)) return { reply: errorReply("NOAUTH Authentication required."), session };
  return HANDLERS.get(name)?.(args, session, entry) ?? null;
}

function echo(args: string[], session: Session): Answer {
  const [, message] = args;
  if (message === undefined || args.length > 2) return wrongCount("echo", session);
  return { reply: bulkReply(message), session };
}

function ping(args: string[], session: Session): Answer {
  if (args.length > 2) return wrongCount("ping", session);
  const [, message] = args;
  return { reply: message === undefined ? "+PONG\r\n" : bulkReply(message), session };
}

function reset(args: string[], session: Session): Answer {
  if (args.length > 1) return wrongCount("reset", session);
  // The library's name and version stay: the library behind the connection is the same.
  return { reply: "+RESET\r\n", session: { ...session, login: null, protocol: 2, db: 0, name: "" } };
}

function select(args: string[], session: Session): Answer {
  const [, text] = args;
  if (text === undefined || args.length > 2) return wrongCount("select", session);
  const db = strictInteger(text);
  if (db === null) return { reply: errorReply("ERR value is not an integer or out of range"), session };
  if (db < -(2 ** 31) || db >= 2 ** 31) {
    const message = "ERR value is out of range, value must between -2147483648 and 2147483647";
    return { reply: errorReply(message), session };
  }
  if (db < 0 || db >= DATABASES) return { reply: errorReply("ERR DB index is out of range"), session };
  return { reply: OK, session: { ...session, db } };
}
