// The shapes of a rotation of credentials, and of the former password in an answer.
import { z } from "zod";

const MAX_GRACE_SECONDS = 7 * 86_400;

/** The body of `POST …/rotate-credentials`. */
export const credentialRotation = z
  .object({
    grace_seconds: z.int().min(0).max(MAX_GRACE_SECONDS).default(0).meta({
      description:
        "How long the present password stays valid beside the new password, in seconds, at most a week; with 0 it is refused as soon as the new password is in force.",
      example: 3600,
    }),
  })
  .meta({ id: "CredentialRotation" });

export type CredentialRotation = z.output<typeof credentialRotation>;

/** The member of `meta` about the former password. */
export const formerPasswordField = z
  .object({ expires_at: z.iso.datetime().meta({ description: "When it ends to be valid." }) })
  .nullable()
  .meta({
    description: "The password that the latest rotation replaced, while it is still valid; null without it.",
    example: null,
  });
