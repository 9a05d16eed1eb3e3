// The shapes of members, invitations and organizations in answers.
import { z } from "zod";
import { ORGANIZATION_NAME, WITHOUT_CONTROL_CHARACTERS } from "../../lib/name-bounds.ts";
import { role } from "../accounts/index.ts";
import { createdAt } from "../shared/fields.ts";

/** The name of an organization. */
export const organizationName = z
  .string()
  .trim()
  .min(ORGANIZATION_NAME.min)
  .max(ORGANIZATION_NAME.max)
  .regex(WITHOUT_CONTROL_CHARACTERS, "may not have control characters")
  .meta({ description: "The name, which no other organization has.", example: "school" });

const id = (prefix: string) => z.string().meta({ example: `${prefix}-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f` });

/** A member as answers show it. */
export const memberResource = z
  .object({
    id: id("member"),
    type: z.literal("members"),
    attributes: z.object({
      user_id: id("user"),
      name: z.string().meta({ example: "Ada" }),
      email: z.string().meta({ example: "ada@example.com" }),
      role,
      created_at: createdAt,
    }),
  })
  .meta({ id: "Member" });

export type MemberResource = z.output<typeof memberResource>;

/** An invitation as answers show it. */
export const invitationResource = z
  .object({
    id: id("invitation"),
    type: z.literal("invitations"),
    attributes: z.object({
      role,
      email: z
        .string()
        .nullable()
        .meta({ description: "The only address that may accept it; null for any." }),
      invited_by: z.string().nullable().meta({
        description:
          "The name of the user who made it, by a session or a token; null for a token of the operator.",
        example: "Ada",
      }),
      created_at: createdAt,
      expires_at: createdAt,
      link: z.string().optional().meta({
        description: "The link to pass on, in the answer of its creation alone.",
        example: "http://127.0.0.1:7458/invitation#3Zp0vXkq7TzN1hYcR8mWb2LsJ5dQfG9a",
      }),
    }),
  })
  .meta({ id: "Invitation" });

export type InvitationResource = z.output<typeof invitationResource>;

/** An organization of a user as answers show it. */
export const ownOrganizationResource = z
  .object({
    id: id("org"),
    type: z.literal("organizations"),
    attributes: z.object({
      name: z.string().meta({ example: "default" }),
      role: role.meta({ description: "The role of the user in it." }),
    }),
  })
  .meta({ id: "OwnOrganization" });

export type OwnOrganizationResource = z.output<typeof ownOrganizationResource>;
