// The command that makes a session another user's.
import type { Instance } from "../backend.ts";
import { PayloadReader } from "./payload-reader.ts";
import { verifierOf } from "./users.ts";
import type { MayBecome } from "./framer.ts";

/**
 * Lets the engine be asked for users with a password alone, which it then has proved to itself, for a salt of its own. For others
 * it may go by what the kernel says of who is connected, and that is the gateway.
 */
export function usersWithPasswords(backend: Instance): MayBecome {
  return (payload) => {
    try {
      const user = new TextDecoder().decode(new PayloadReader(payload, 1).untilZero());
      return verifierOf(backend.entry, user) !== null;
    } catch {
      // It is shorter than it says.
      return false;
    }
  };
}
