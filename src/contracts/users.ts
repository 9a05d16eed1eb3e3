// The users that may log in to an instance, as the host, the gateway and the manifest have them.
import * as z from "zod/mini";

export const instanceUserSchema = z.strictObject({
  name: z.string(),
  /**
   * Verifies the password, in the form that the engine itself keeps, and is never the password: SHA-256 in lower-case
   * hexadecimal for a cache; `SCRAM-SHA-256$…` for Postgres; `*` and SHA-1 of SHA-1 in upper-case hexadecimal for
   * MySQL.
   */
  verifier: z.string(),
});

/** A user with a verifier. */
export type InstanceUser = z.infer<typeof instanceUserSchema>;
