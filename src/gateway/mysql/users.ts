// The users that may log in, by the engine's own tables.
import { userName } from "../../lib/libc.ts";
import { openLoginKey } from "../../lib/login-keys.ts";
import type { Route } from "../../contracts/gateway-link.ts";
import { validFormer } from "../../contracts/users.ts";
import { isHashOf, parseVerifier, passwordHashOf } from "../../lib/native-password.ts";

/**
 * The user name of the gateway's process. An engine may let a user of this name in without a password, because the
 * kernel names the process behind the unix socket, and that is the gateway for every client.
 */
const ownName = userName(process.getuid?.() ?? 0);

/** SHA1(SHA1(password)) of a user; null when the user is unknown or logs in by anything but a native password. */
export function verifierOf({ users }: Route, name: string): Uint8Array | null {
  if (name === "" || name === ownName) return null;
  const user = users.find((each) => each.name === name);
  return user === undefined ? null : parseVerifier(user.verifier);
}

/** The password that a client has proved, and the key for its login at the engine. */
export interface ProvedPassword {
  /** SHA1(SHA1(password)) of the client's own password. */
  verifier: Uint8Array;
  /** SHA1(password) of the current password, which the engine has. */
  passwordHash: Uint8Array;
}

/** For a client that proves the former password while it is valid; null for any other client. */
export function provedFormer(
  { users }: Route,
  name: string,
  token: Uint8Array,
  salt: Uint8Array,
): ProvedPassword | null {
  const user = users.find((each) => each.name === name);
  const former = user === undefined ? null : validFormer(user);
  if (user === undefined || former?.sealedKey === undefined) return null;
  const [verifier, current] = [parseVerifier(former.verifier), parseVerifier(user.verifier)];
  if (verifier === null || current === null) return null;
  const formerHash = passwordHashOf(token, salt, verifier);
  if (formerHash === null) return null;
  const passwordHash = openLoginKey(former.sealedKey, formerHash, user.verifier);
  return isHashOf(passwordHash, current) ? { verifier, passwordHash } : null;
}
