// Who may log in to an instance: told to the host and the gateway, and kept in the manifest.
import * as z from "zod/mini";

export const instanceUserSchema = z.strictObject({
  name: z.string(),
  /**
   * What verifies the password, in the form that the engine itself keeps, never the password: SHA-256 in lower-case hexadecimal for
   * a cache; `SCRAM-SHA-256$…` for Postgres; `*` and SHA-1 of SHA-1 in upper-case hexadecimal for MySQL.
   */
  verifier: z.string(),
});

/** A user with a verifier. */
export type InstanceUser = z.infer<typeof instanceUserSchema>;
