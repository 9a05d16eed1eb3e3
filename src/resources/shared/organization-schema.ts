// The shape of an organization in an answer.
import { z } from "zod";

const amount = (description: string, example: number) =>
  z
    .object({
      limit: z.int().min(0).nullable().meta({ description: "The limit; null without a limit.", example }),
      used: z.int().min(0).meta({ description: "The amount that counts at the moment.", example: 3 }),
    })
    .meta({ description });

const memoryBytes = amount(
  "Bytes of memory, the sum of the sizes of all resources; of an environment, for each of its processes.",
  2_251_799_813_685_248,
);
const storageBytes = amount(
  "Bytes on the disk at the host's latest measurement. Above the limit, creates are refused.",
  1_099_511_627_776,
);
const connections = amount("Connections that database and WebSocket clusters may have.", 1_000_000);

const quotas = z
  .object({
    resources: amount("Resources of all kinds.", 5_000),
    caches: amount("Caches.", 500),
    databases: amount("Database clusters.", 500),
    websockets: amount("WebSocket clusters.", 500),
    applications: amount("Environments of applications.", 500),
    memory_bytes: memoryBytes,
    storage_bytes: storageBytes,
    connections,
    ports: amount("Ports of the host that instances have.", 5_000),
  })
  .meta({
    id: "Quotas",
    description:
      "Limits of the organization and all that share its quotas together, and the amounts that they use together. A resource counts until it is deleted whole.",
  });

const tokenQuotas = z
  .object({
    resources: amount("Resources of all kinds.", 20),
    memory_bytes: memoryBytes,
    storage_bytes: storageBytes,
    connections,
  })
  .meta({
    id: "TokenQuotas",
    description: "Limits of the token alone, for the resources that the token created or enlarged.",
  });

/** An organization as answers show it. */
export const organizationResource = z
  .object({
    id: z.string().meta({ example: "org-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
    type: z.literal("organizations"),
    attributes: z.object({
      name: z.string().meta({ example: "default" }),
      slug: z.string().meta({ description: "The name as a part of an address.", example: "default" }),
    }),
    meta: z.object({
      quotas,
      shares_quotas: z.boolean().meta({
        description:
          "Whether other organizations share the quotas: those that members of a tenant make share the quotas of the tenant's first one.",
        example: false,
      }),
      notices: z.array(z.string()).meta({
        description:
          "Sentences about amounts above their limits, with the consequences; empty when all amounts are within.",
        example: [],
      }),
      token: z
        .object({
          id: z.string().meta({ example: "token-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
          name: z.string().meta({ example: "laptop" }),
          quotas: tokenQuotas,
        })
        .nullable()
        .meta({ description: "The token that asks; null for a session." }),
    }),
  })
  .meta({ id: "Organization" });

export type OrganizationResource = z.output<typeof organizationResource>;
