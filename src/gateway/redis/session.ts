// The session of a client: its state at the engine, which is replayed to a newly started engine.
import { timingSafeEqual } from "node:crypto";
import { sha256Hex } from "../../lib/secrets.ts";
import type { InstanceUser } from "../../contracts/users.ts";

/** One character is a byte. */
export interface Login {
  user: string;
  password: string;
}

/** The longest name of a client, in bytes: the gateway keeps it for as long as the cache sleeps. */
export const MAX_NAME_BYTES = 256;

/** A client's state as the engine keeps it for a connection; the only place that keeps a password. */
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

/** Whether a login is right; the time of the comparison does not show how much of the password is right. */
export function isRight({ user, password }: Login, users: InstanceUser[]): boolean {
  const given = Buffer.from(sha256Hex(Buffer.from(password, "latin1")));
  const known = users.find(({ name }) => Buffer.from(name).toString("latin1") === user);
  const expected = Buffer.from(known?.verifier ?? "0".repeat(given.length));
  return expected.length === given.length && timingSafeEqual(expected, given) && known !== undefined;
}
