// The shapes of passkeys, and of the answers of authenticators (WebAuthn).
import { z } from "zod";
import { createdAt } from "../../shared/fields.ts";

const MAX_NAME = 100;

const base64url = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[\w-]+$/, "must be base64url");

const MAX_ID = 1_400;
const id = base64url(MAX_ID).meta({ description: "The id of the credential, base64url." });
const clientDataJSON = base64url(8_192);
const authenticatorData = base64url(8_192);
const type = z.literal("public-key");

/** The answer of an authenticator that made a passkey, as the browser gives it as JSON. */
export const registration = z
  .object({
    id,
    rawId: id,
    type,
    response: z.object({
      clientDataJSON,
      attestationObject: base64url(32_768),
      transports: z.array(z.string().max(32)).max(10).optional(),
    }),
  })
  .meta({ id: "PasskeyRegistration", description: "`RegistrationResponseJSON` of WebAuthn." });

/** The answer of an authenticator that signed a challenge, as the browser gives it as JSON. */
export const authentication = z
  .object({
    id,
    rawId: id,
    type,
    response: z.object({
      clientDataJSON,
      authenticatorData,
      signature: base64url(2_048),
      userHandle: base64url(128).optional(),
    }),
  })
  .meta({ id: "PasskeyAuthentication", description: "`AuthenticationResponseJSON` of WebAuthn." });

/** The name of a passkey. */
export const passkeyName = z
  .string()
  .trim()
  .min(1)
  .max(MAX_NAME)
  .regex(/^\P{Cc}*$/u, "may not have control characters")
  .meta({ description: "What the user calls it.", example: "Laptop" });

/** The options for the browser; their members are those of WebAuthn. */
export const options = z.object({
  data: z.record(z.string(), z.unknown()).meta({
    description: "What the browser's WebAuthn takes as JSON, such as `parseRequestOptionsFromJSON`.",
  }),
});

/** A passkey as answers show it. */
export const passkeyResource = z
  .object({
    id: z.string().meta({ example: "passkey-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
    type: z.literal("passkeys"),
    attributes: z.object({
      name: z.string().meta({ example: "Laptop" }),
      created_at: createdAt,
      last_used_at: createdAt.nullable().meta({ description: "Null before the first sign-in." }),
    }),
  })
  .meta({ id: "Passkey" });

export type PasskeyResource = z.output<typeof passkeyResource>;
