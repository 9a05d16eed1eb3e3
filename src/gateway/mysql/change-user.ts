// The rule for COM_CHANGE_USER, the command that gives a session another user.
import type { Instance } from "../backend.ts";
import { PayloadReader } from "./payload-reader.ts";
import { verifierOf } from "./users.ts";
import type { UserRule } from "./framer.ts";

/**
 * Lets only requests for users with a password reach the engine, which then demands a proof for a salt of its own. For
 * other users the engine may trust the kernel's word on the connected process, and that process is the gateway.
 */
export function usersWithPasswords(backend: Instance): UserRule {
  return {
    allows(payload) {
      try {
        const user = new TextDecoder().decode(new PayloadReader(payload, 1).untilZero());
        return verifierOf(backend.entry, user) !== null;
      } catch {
        // The payload is shorter than its fields say.
        return false;
      }
    },
    learn: () => backend.refreshUsers(),
  };
}
