// The session of a client: its state at the engine, which is replayed to a newly started engine.
import { timingSafeEqual } from "node:crypto";
import { sha256Hex } from "../../lib/secrets.ts";
import { validFormer, type InstanceUser } from "../../contracts/users.ts";

/** One character is a byte. */
export interface Login {
  user: string;
  password: string;
}

/** The longest name of a client, in bytes: the gateway keeps it for as long as the cache sleeps. */
export const MAX_NAME_BYTES = 256;

/** A client's state as the engine keeps it for a connection; only it and the framer keep a password. */
export interface Session {
  /** The connection's id in the gateway's own answers. */
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

/** The session of a new connection. */
export function newSession(): Session {
  latestId++;
  return { id: latestId, login: null, protocol: 2, db: 0, name: "", libraryName: "", libraryVersion: "" };
}

/** The user of a login without a user name. */
export const DEFAULT_USER = "default";

/** No password has this hash. */
const NO_VERIFIER = "0".repeat(64);

/**
 * Whether a login is right, by the current password or by a former password that is still valid; the time of the
 * comparison does not show how much of a password is right.
 */
export function isRight({ user, password }: Login, users: InstanceUser[]): boolean {
  const given = Buffer.from(sha256Hex(Buffer.from(password, "latin1")));
  const known = users.find(({ name }) => Buffer.from(name).toString("latin1") === user);
  const former = known === undefined ? null : validFormer(known);
  const verifiers = [known?.verifier ?? NO_VERIFIER, former?.verifier ?? NO_VERIFIER];
  const matches = verifiers.map((verifier) => isSame(Buffer.from(verifier), given));
  return known !== undefined && matches.includes(true);
}

function isSame(expected: Buffer, given: Buffer): boolean {
  return expected.length === given.length && timingSafeEqual(expected, given);
}
