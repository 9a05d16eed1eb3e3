// The shapes of users, their sessions and the sign-in, in requests and answers.
import { z } from "zod";
import { ROLES } from "../../api/auth/abilities.ts";
import { createdAt } from "../shared/fields.ts";

export type { PasskeyResource } from "./passkeys/schema.ts";

const MAX_EMAIL = 254;
const MIN_PASSWORD = 10;
const MAX_PASSWORD = 200;
const MAX_NAME = 100;
const MAX_SECRET = 100;

/** An e-mail address in a request; it is kept in lower case. */
export const emailField = z
  .string()
  .max(MAX_EMAIL)
  .regex(/^[!-?A-~]+@[!-?A-~]+$/, "must be an e-mail address in ASCII")
  .toLowerCase()
  .meta({ description: "An e-mail address; capital letters do not matter.", example: "ada@example.com" });

/** A new password. */
export const passwordField = z
  .string()
  .min(MIN_PASSWORD)
  .max(MAX_PASSWORD)
  .meta({ description: "A password.", example: "correct horse battery" });

/** A password that is compared; any shorter or longer text is simply wrong. */
export const givenPasswordField = z
  .string()
  .max(MAX_PASSWORD)
  .meta({ description: "The password of the account.", example: "correct horse battery" });

/** The name of a person. */
export const personField = z
  .string()
  .trim()
  .min(1)
  .max(MAX_NAME)
  .regex(/^\P{Cc}*$/u, "may not have control characters")
  .meta({ description: "The name of the person, as members of the organization see it.", example: "Ada" });

/** The secret of a one-time link. */
export const secretField = z.string().min(1).max(MAX_SECRET).meta({
  description: "What stands after the `#` of the link.",
  example: "3Zp0vXkq7TzN1hYcR8mWb2LsJ5dQfG9a",
});

export const role = z.enum(ROLES).meta({
  id: "Role",
  description:
    "What a member may do: an owner everything; an admin everything but with the organization itself and its owners; a developer all with resources; a viewer reads, without credentials.",
});

const id = (prefix: string) => z.string().meta({ example: `${prefix}-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f` });

/** A user as answers to the user show it. */
export const userResource = z
  .object({
    id: id("user"),
    type: z.literal("users"),
    attributes: z.object({
      name: z.string().meta({ example: "Ada" }),
      email: z.string().meta({ example: "ada@example.com" }),
      created_at: createdAt,
    }),
    meta: z.object({
      session_id: id("session").meta({ description: "The session that asks." }),
      organization_id: z
        .string()
        .nullable()
        .meta({ description: "The organization that the session works on." }),
      role: role.nullable().meta({ description: "The role in that organization." }),
      abilities: z.array(z.string()).meta({
        description: "What the session may do there; `*` is everything.",
        example: ["*"],
      }),
      organizations: z
        .array(z.object({ id: id("org"), name: z.string().meta({ example: "default" }), role }))
        .meta({ description: "All organizations of the user." }),
    }),
  })
  .meta({ id: "User" });

export type UserResource = z.output<typeof userResource>;

/** A session as answers show it. */
export const sessionResource = z
  .object({
    id: id("session"),
    type: z.literal("sessions"),
    attributes: z.object({
      is_current: z.boolean().meta({ description: "Whether it is the session that asks." }),
      organization_id: z.string().nullable().meta({ description: "The organization that it works on." }),
      address: z.string().meta({ description: "The IP address of the sign-in.", example: "127.0.0.1" }),
      user_agent: z.string().meta({ description: "The program of the sign-in, as it called itself." }),
      created_at: createdAt,
      last_used_at: createdAt,
      expires_at: createdAt.meta({ description: "It ends then unless it is used before." }),
    }),
  })
  .meta({ id: "Session" });

export type SessionResource = z.output<typeof sessionResource>;
