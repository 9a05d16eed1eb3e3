// The shape of an activity in an answer: a request that changed something, its caller, and where it came from.
import { z } from "zod";

const actor = z
  .object({
    type: z.enum(["token", "user"]),
    id: z.string(),
    name: z.string().nullable().meta({
      description: "The name of the token, or the address of the user; null when it is gone.",
      example: "deploy",
    }),
  })
  .meta({ id: "ActivityActor" });

/** An activity as answers show it. */
export const activityResource = z
  .object({
    id: z.string().meta({ description: "Digits.", example: "512" }),
    type: z.literal("activities"),
    attributes: z.object({
      action: z.string().meta({ description: "A verb.", example: "rotate-credentials" }),
      kind: z.string().meta({ description: "The kind of what was acted on.", example: "caches" }),
      resource_id: z.string().meta({ example: "cache-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
      actor: actor
        .nullable()
        .meta({ description: "Null for a failed sign-in, and when it was not recorded." }),
      address: z.string().nullable().meta({
        description: "The IP address that the request came from; null when it is not known.",
        example: "192.0.2.17",
      }),
      occurred_at: z.iso.datetime().meta({
        description: "When it was committed, UTC.",
        example: "2026-03-15T08:18:53.204112Z",
        override: { pattern: undefined },
      }),
      details: z
        .record(z.string(), z.unknown())
        .meta({ description: "The parameters of the request, without secrets.", example: { size: "1gb" } }),
    }),
    meta: z.object({
      request_id: z.string().nullable().meta({
        description: "The id of the request, which its events have as well.",
        example: "deploy-7f3a",
      }),
    }),
  })
  .meta({ id: "Activity" });

export type ActivityResource = z.output<typeof activityResource>;
