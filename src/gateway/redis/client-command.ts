// CLIENT, as far as libraries use it to name themselves.
import type { Route } from "../../contracts/gateway-link.ts";
import { wrongCount, type Answer } from "./answer.ts";
import { bulkReply, errorReply, nullReply, OK } from "./replies.ts";
import { MAX_NAME_BYTES, type Session } from "./session.ts";

/** Subcommands that libraries send and no supported engine knows. */
const KNOWN_NOWHERE = new Set(["maint_notifications"]);

/** Answers `CLIENT SETNAME`, `GETNAME` and `SETINFO`; null for the other subcommands of the engine. */
export function clientAnswer(args: string[], session: Session, entry: Route): Answer | null {
  const given = args[1];
  if (given === undefined) return wrongCount("client", session);
  const name = given.toLowerCase();
  if (name === "getname") return getName(args, session);
  if (name === "setname") return setName(args, session);
  if (name === "setinfo" && knowsSetInfo(entry)) return setInfo(args, session);
  if (name !== "setinfo" && !KNOWN_NOWHERE.has(name)) return null;
  return { reply: errorReply(`ERR unknown subcommand '${given}'. Try CLIENT HELP.`), session };
}

/**
 * The error for a text that may not stand in the engine's list of clients; null when the text is valid.
 * @param what the text's kind, such as `Client names`, in the case that the engine has in its answer.
 */
export function listingRefusal(what: string, text: string): string | null {
  if (text.length > MAX_NAME_BYTES)
    return errorReply(`ERR ${what} cannot have more than ${MAX_NAME_BYTES} bytes.`);
  if (/^[!-~]*$/.test(text)) return null;
  return errorReply(`ERR ${what} cannot contain spaces, newlines or special characters.`);
}

/** Redis knows `CLIENT SETINFO` since 7.2; Valkey began as a fork of that version. */
export function knowsSetInfo({ engine }: Route): boolean {
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
  const refusal = listingRefusal("Client names", name);
  if (refusal !== null) return { reply: refusal, session };
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
  const refusal = listingRefusal(option, value);
  if (refusal !== null) return { reply: refusal, session };
  const change = name === "lib-name" ? { libraryName: value } : { libraryVersion: value };
  return { reply: OK, session: { ...session, ...change } };
}
