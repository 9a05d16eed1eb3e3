// The users that may log in, by the engine's own tables.
import { userName } from "../../lib/libc.ts";
import type { Route } from "../../contracts/gateway-link.ts";
import { parseVerifier } from "./native-password.ts";

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
