// CLIENT, as far as libraries use it to say who they are.
import type { Entry } from "../link.ts";
import { wrongCount, type Answer } from "./answer.ts";
import { bulkReply, errorReply, nullReply, OK } from "./replies.ts";
import type { Session } from "./session.ts";

/** Libraries ask for these, and no engine that runs here knows them. */
const KNOWN_NOWHERE = new Set(["maint_notifications"]);

/** Answers `CLIENT SETNAME`, `GETNAME` and `SETINFO`; null for the others. */
export function clientAnswer(args: string[], session: Session, entry: Entry): Answer | null {
  const given = args[1];
  if (given === undefined) return wrongCount("client", session);
  const name = given.toLowerCase();
  if (name === "getname") return getName(args, session);
  if (name === "setname") return setName(args, session);
  if (name === "setinfo" && knowsSetInfo(entry)) return setInfo(args, session);
  if (name !== "setinfo" && !KNOWN_NOWHERE.has(name)) return null;
  return { reply: errorReply(`ERR unknown subcommand '${given}'. Try CLIENT HELP.`), session };
}

/** Whether a text may stand in the engine's list of clients. */
export function isListable(text: string): boolean {
  return /^[!-~]*$/.test(text);
}

/** What the engine says of a text that may not. @param what such as `Client names`. */
export function unlistable(what: string): string {
  return errorReply(`ERR ${what} cannot contain spaces, newlines or special characters.`);
}

/** Redis has it since 7.2, and Valkey began with that version. */
export function knowsSetInfo({ engine }: Entry): boolean {
  const [major = 0, minor = 0] = engine.version.split(".").map(Number);
  return engine.name === "valkey" || major > 7 || (major === 7 && minor >= 2);
}

function getName(args: string[], session: Session): Answer {
  if (args.length !== 2) return wrongCount("client|getname", session);
  return { reply: session.name === "" ? nullReply(session.protocol) : bulkReply(session.name), session };
}

function setName(args: string[], session: Session): Answer {
  const [, , name] = args;
  if (name === undefined || args.length > 3) return wrongCount("client|setname", session);
  if (!isListable(name)) return { reply: unlistable("Client names"), session };
  return { reply: OK, session: { ...session, name } };
}

function setInfo(args: string[], session: Session): Answer {
  const [, , option, value] = args;
  if (option === undefined || value === undefined || args.length > 4) {
    return wrongCount("client|setinfo", session);
  }
  const name = option.toLowerCase();
  if (name !== "lib-name" && name !== "lib-ver") {
    return { reply: errorReply(`ERR Unrecognized option '${option}'`), session };
  }
  if (!isListable(value)) return { reply: unlistable(name), session };
  const change = name === "lib-name" ? { libraryName: value } : { libraryVersion: value };
  return { reply: OK, session: { ...session, ...change } };
}
