// The commands that need no engine: what libraries say when they connect and to keep a connection alive, answered as the engine would.
import type { Route } from "../link.ts";
import { wrongCount, type Answer } from "./answer.ts";
import { clientAnswer } from "./client-command.ts";
import { authAnswer, helloAnswer } from "./login.ts";
import { bulkReply, errorReply, OK } from "./replies.ts";
import { strictInteger } from "./resp.ts";
import type { Session } from "./session.ts";

/** What the engine allows, and the settings of the host do not change. */
const DATABASES = 16;

type Handler = (args: string[], session: Session, entry: Route) => Answer | null;

/** None of these counts as use of a cache, so a pool that connects again leaves it asleep. */
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
/** What browsers are made to send to ports that are none of theirs; the engine closes without a word. */
const OF_HTTP = new Set(["post", "host:"]);

/** Whether it is only to see that the connection works, which any end of it can tell. @param name in any case. */
export function isKeepAlive(name: string): boolean {
  return ["ping", "echo"].includes(name.toLowerCase());
}

/** Whether it may be one that is answered here. @param name in any case. */
export function isLocal(name: string): boolean {
  return HANDLERS.has(name.toLowerCase());
}

/**
 * Answers a command without the engine.
 * @param args at least the name; one character is a byte.
 * @returns null when only the engine can answer it.
 */
export function answerOf(args: string[], session: Session, entry: Route): Answer | null {
  const name = (args[0] ?? "").toLowerCase();
  if (session.login !== null) return HANDLERS.get(name)?.(args, session, entry) ?? null;
  if (OF_HTTP.has(name)) return { reply: "", session, isLast: true };
  // The engine tells a stranger which commands there are and what they take; here nobody learns it.
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
  // The library behind the connection stays the same.
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
