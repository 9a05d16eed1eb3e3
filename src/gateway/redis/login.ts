// AUTH and HELLO: log a client in, by the same password hash as the engine's, and set its protocol version.
import type { Route } from "../../contracts/gateway-link.ts";
import { wrongCount, type Answer } from "./answer.ts";
import { listingRefusal } from "./client-command.ts";
import { bulkReply, errorReply } from "./replies.ts";
import { strictInteger } from "./resp.ts";
import { DEFAULT_USER, isRight, type Login, type Session } from "./session.ts";

/** The engine's own text. */
export const WRONG = errorReply("WRONGPASS invalid username-password pair or user is disabled.");

/** The login that a command tries, right or wrong; null for a command that tries none. */
export function loginOf(args: string[]): Login | null {
  const name = (args[0] ?? "").toLowerCase();
  if (name === "auth") return args.length > 3 ? null : loginOfAuth(args);
  if (name !== "hello") return null;
  const request = readHello(args, 2);
  return typeof request === "string" ? null : request.login;
}

function loginOfAuth([, first, second]: string[]): Login | null {
  if (first === undefined) return null;
  if (second === undefined) return { user: DEFAULT_USER, password: first };
  return { user: first, password: second };
}

/** Answers `AUTH [user] password`. */
export function authAnswer(args: string[], session: Session, entry: Route): Answer {
  const login = loginOfAuth(args);
  if (login === null) return wrongCount("auth", session);
  if (args.length > 3) return { reply: errorReply("ERR syntax error"), session };
  if (!isRight(login, entry.users)) return { reply: WRONG, session, isRefused: true };
  return { reply: "+OK\r\n", session: { ...session, login } };
}

/** Answers `HELLO [2|3 [AUTH user password] [SETNAME name]]`. */
export function helloAnswer(args: string[], session: Session, entry: Route): Answer {
  const request = readHello(args, session.protocol);
  if (typeof request === "string") return { reply: request, session };
  if (request.login !== null && !isRight(request.login, entry.users)) {
    return { reply: WRONG, session, isRefused: true };
  }
  const login = request.login ?? session.login;
  if (login === null) return { reply: errorReply(withoutLogin(entry)), session };
  const next = { ...session, login, protocol: request.protocol, name: request.name ?? session.name };
  return { reply: greeting(next, entry), session: next };
}

interface HelloRequest {
  protocol: 2 | 3;
  login: Login | null;
  name: string | null;
}

/** Reads the options of HELLO. @returns the error reply for invalid options. */
function readHello(args: string[], current: 2 | 3): HelloRequest | string {
  const [, version, ...options] = args;
  if (version === undefined) return { protocol: current, login: null, name: null };
  const protocol = strictInteger(version);
  if (protocol === null) return errorReply("ERR Protocol version is not an integer or out of range");
  if (protocol !== 2 && protocol !== 3) return errorReply("NOPROTO unsupported protocol version");
  const request: HelloRequest = { protocol, login: null, name: null };
  for (let at = 0; at < options.length;) {
    const [option = "", first, second] = options.slice(at, at + 3);
    const name = option.toLowerCase();
    if (name === "auth" && first !== undefined && second !== undefined) {
      request.login = { user: first, password: second };
      at += 3;
    } else if (name === "setname" && first !== undefined) {
      const refusal = listingRefusal("Client names", first);
      if (refusal !== null) return refusal;
      request.name = first;
      at += 2;
    } else {
      return errorReply(`ERR Syntax error in HELLO option '${option}'`);
    }
  }
  return request;
}

function withoutLogin({ engine }: Route): string {
  // Redis changed the text after 7.0.
  const form = engine.name === "redis" && engine.version.startsWith("7.0.") ? "HELLO" : "HELLO <proto>";
  return (
    "NOAUTH HELLO must be called with the client already authenticated, otherwise the " +
    `${form} AUTH <user> <pass> option can be used to authenticate the client and select the RESP ` +
    "protocol version at the same time"
  );
}

/** The engine's answer to HELLO; all engines here are standalone and have no modules. */
function greeting({ id, protocol }: Session, { engine }: Route): string {
  const members = [
    ["server", bulkReply(engine.name)],
    ["version", bulkReply(engine.version)],
    ["proto", `:${protocol}\r\n`],
    ["id", `:${id}\r\n`],
    ["mode", bulkReply("standalone")],
    ["role", bulkReply("master")],
    ["modules", "*0\r\n"],
  ];
  const body = members.map(([name = "", value = ""]) => bulkReply(name) + value).join("");
  return `${protocol === 3 ? `%${members.length}` : `*${members.length * 2}`}\r\n${body}`;
}
