// What the gateway says to a command in place of the engine.
import { errorReply } from "./replies.ts";
import type { Session } from "./session.ts";

/** What a command is answered with. */
export interface Answer {
  reply: string;
  session: Session;
  /** The connection is to be ended. */
  isLast?: true;
  /** It was a login, and wrong. */
  isRefused?: true;
}

/** @param name as the engine writes it, such as `client|setname`. */
export function wrongCount(name: string, session: Session): Answer {
  return { reply: errorReply(`ERR wrong number of arguments for '${name}' command`), session };
}
