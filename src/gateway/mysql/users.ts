// Who may log in, as the engine's own tables had it.
import { userName } from "../../lib/libc.ts";
import type { Route } from "../link.ts";
import { parseVerifier } from "./native-password.ts";

/**
 * The gateway's own name on this machine. An engine lets a user of that name in without a password when the kernel says that the
 * one who asks through its socket is called so, which would be the gateway, whoever the client is.
 */
const ownName = userName(process.getuid?.() ?? 0);

/** SHA1(SHA1(password)) of a user; null for one that is unknown, has no password, or is known by something else. */
export function verifierOf({ users }: Route, name: string): Uint8Array | null {
  if (name === "" || name === ownName) return null;
  const user = users.find((each) => each.name === name);
  return user === undefined ? null : parseVerifier(user.verifier);
}
