// The shapes of tokens in requests and answers.
import { z } from "zod";
import { TOKEN_NAME, WITHOUT_CONTROL_CHARACTERS } from "../../lib/name-bounds.ts";
import { createdAt } from "../shared/fields.ts";
import { momentField } from "../shared/moment-field.ts";

const MAX_ABILITIES = 100;
const MAX_LIMIT = Number.MAX_SAFE_INTEGER;

const limit = (description: string, example: number) =>
  z.int().min(1).max(MAX_LIMIT).optional().meta({ description, example });

/** The body of a create. */
export const newToken = z.object({
  name: z
    .string()
    .trim()
    .min(TOKEN_NAME.min)
    .max(TOKEN_NAME.max)
    .regex(WITHOUT_CONTROL_CHARACTERS, "may not have control characters")
    .meta({ description: "The purpose of the token.", example: "laptop" }),
  abilities: z
    .array(z.string().max(64))
    .min(1)
    .max(MAX_ABILITIES)
    .meta({ description: "What it may do; `GET /tokens/abilities` lists them.", example: ["caches:read"] }),
  expires_at: momentField("2027-03-15T08:00:00Z")
    .optional()
    .meta({
      description: "When it ends; never when left out.",
      example: "2027-03-15T08:00:00Z",
      override: { pattern: undefined },
    }),
  limits: z
    .object({
      resources: limit("How many resources it may order.", 20),
      memory_bytes: limit("How much memory they may have in all.", 8_589_934_592),
      storage_bytes: limit("With how much on the disk it may order no more.", 53_687_091_200),
      connections: limit("How many connections its clusters may have in all.", 500),
    })
    .optional()
    .meta({ description: "Limits of the token alone, beside the quotas of the organization." }),
});

export type NewTokenBody = z.input<typeof newToken>;

const taken = (description: string) => z.int().min(1).nullable().meta({ description });

/** A token as answers show it. */
export const tokenResource = z
  .object({
    id: z.string().meta({ example: "token-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
    type: z.literal("tokens"),
    attributes: z.object({
      name: z.string().meta({ example: "laptop" }),
      abilities: z.array(z.string()).meta({ example: ["caches:read"] }),
      created_by: z.string().nullable().meta({
        description:
          "The name of the user who made it, by a session or another token; null for a token of the operator.",
        example: "Ada",
      }),
      created_at: createdAt,
      expires_at: createdAt.nullable().meta({ description: "Null for never." }),
      last_used_at: createdAt.nullable().meta({ description: "To the minute; null before the first use." }),
      limits: z
        .object({
          resources: taken("Resources."),
          memory_bytes: taken("Bytes of memory."),
          storage_bytes: taken("Bytes on the disk."),
          connections: taken("Connections."),
        })
        .meta({ description: "Null is no limit of its own." }),
      token: z.string().optional().meta({
        description: "The token itself, in the answer of its creation alone.",
        example: "pilvi_3Zp0vXkq7TzN1hYcR8mWb2LsJ5dQfG9aKt4Uy6We",
      }),
    }),
  })
  .meta({ id: "Token" });

export type TokenResource = z.output<typeof tokenResource>;

/** An ability as the API lists it. */
export const abilityResource = z
  .object({
    id: z.string().meta({ example: "caches:read" }),
    type: z.literal("abilities"),
    attributes: z.object({
      description: z.string().meta({ example: "List and read caches, without credentials." }),
      is_grantable: z.boolean().meta({ description: "Whether a token of the client's own may have it." }),
    }),
  })
  .meta({ id: "Ability" });

export type AbilityResource = z.output<typeof abilityResource>;
