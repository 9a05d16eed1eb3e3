// The gateway's own answer to a command, in place of the engine's.
import { errorReply } from "./replies.ts";
import type { Session } from "./session.ts";

/** An answer to a command, with the session after it. */
export interface Answer {
  reply: string;
  session: Session;
  /** The connection ends after this answer. */
  isLast?: true;
  /** The command was a login with a wrong user or password. */
  isRefused?: true;
}

/** @param name the command as the engine writes it, such as `client|setname`. */
export function wrongCount(name: string, session: Session): Answer {
  return { reply: errorReply(`ERR wrong number of arguments for '${name}' command`), session };
}
