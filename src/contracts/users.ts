// The users that may log in to an instance, as the host, the gateway and the manifest have them.
import * as z from "zod/mini";

const formerPasswordSchema = z.strictObject({
  /** Verifies the former password, in the form of the current verifier. */
  verifier: z.string(),
  /** When it ends to be valid, ISO 8601 in UTC. */
  expiresAt: z.string(),
  /**
   * The login key of the current password, sealed with that of the former password (`src/lib/login-keys.ts`); left out
   * for an engine that takes several passwords itself.
   */
  sealedKey: z.exactOptional(z.string()),
});

/** A password that stays valid beside the current password for a while. */
export type FormerPassword = z.infer<typeof formerPasswordSchema>;

export const instanceUserSchema = z.strictObject({
  name: z.string(),
  /**
   * Verifies the password, in the form that the engine itself keeps, and is never the password: SHA-256 in lower-case
   * hexadecimal for a cache; `SCRAM-SHA-256$…` for Postgres; `*` and SHA-1 of SHA-1 in upper-case hexadecimal for
   * MySQL.
   */
  verifier: z.string(),
  /** Left out for a user that was given no other password lately. */
  former: z.exactOptional(formerPasswordSchema),
});

/** A user with a verifier. */
export type InstanceUser = z.infer<typeof instanceUserSchema>;

/** The former password of a user while it is valid. */
export function validFormer({ former }: InstanceUser, nowMs = Date.now()): FormerPassword | null {
  return former !== undefined && Date.parse(former.expiresAt) > nowMs ? former : null;
}
