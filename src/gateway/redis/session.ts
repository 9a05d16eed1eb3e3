// What a client has told about itself, which an engine has to be told again when it is started anew.
import { timingSafeEqual } from "node:crypto";
import { sha256Hex } from "../../lib/secrets.ts";
import type { RouteUser } from "../link.ts";

/** One character is a byte. */
export interface Login {
  user: string;
  password: string;
}

/** The longest text that a client may tell of itself, in bytes: the gateway keeps it for as long as the cache sleeps. */
export const MAX_NAME_BYTES = 256;

/** A client's state as the engine keeps it for a connection; no password is kept anywhere else. */
export interface Session {
  /** What it is told to be as long as no engine gave it a number. */
  readonly id: number;
  /** Null before a login. */
  readonly login: Login | null;
  readonly protocol: 2 | 3;
  readonly db: number;
  readonly name: string;
  readonly libraryName: string;
  readonly libraryVersion: string;
}

let latestId = 0;

/** How a connection begins. */
export function newSession(): Session {
  latestId++;
  return { id: latestId, login: null, protocol: 2, db: 0, name: "", libraryName: "", libraryVersion: "" };
}

/** The user of a login that names none. */
export const DEFAULT_USER = "default";

/** Whether somebody may log in, compared in a time that does not tell how much of it was right. */
export function isRight({ user, password }: Login, users: RouteUser[]): boolean {
  const given = Buffer.from(sha256Hex(Buffer.from(password, "latin1")));
  const known = users.find(({ name }) => Buffer.from(name).toString("latin1") === user);
  const expected = Buffer.from(known?.verifier ?? "0".repeat(given.length));
  return expected.length === given.length && timingSafeEqual(expected, given) && known !== undefined;
}
