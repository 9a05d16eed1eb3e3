// Members that requests and resources of several kinds have in common.
import { z } from "zod";
import type { FieldErrors } from "../../api/jsonapi/errors.ts";

/** The name of a new resource. */
export function nameField(description: string, example: string) {
  return z
    .string()
    .min(2)
    .max(40)
    .regex(/^[a-z0-9_-]+$/, "may have lowercase letters, digits, underscores and hyphens only")
    .meta({ description, example });
}

/** The dedicated cluster on which a new resource is placed. */
export function clusterIdField() {
  return z.string().optional().meta({
    description: "A dedicated cluster for the resource. No dedicated clusters exist yet.",
    example: null,
  });
}

/** The error for a `cluster_id`, since dedicated clusters do not exist yet. */
export function clusterIdFaults(id: string | undefined): FieldErrors {
  return id === undefined ? {} : { cluster_id: ["There is no dedicated cluster with this id."] };
}

/** When a resource was created. */
export const createdAt = z.iso.datetime({ precision: 6 }).meta({
  description: "UTC, with microseconds.",
  example: "2026-03-15T08:18:53.000000Z",
  override: { pattern: undefined },
});

/** The credentials of a connection, under the empty name and inline. */
export function credentialFields(kind: string, schemaId: string) {
  const example = { username: "app", password: "3Zp0vXkq7TzN1hYcR8mWb2LsJ5dQfG9a" };
  const credentials = z
    .object({ username: z.string(), password: z.string() })
    .meta({ id: schemaId, example });
  return {
    "": namelessCredentials(kind, credentials),
    username: inlineCredential(example.username),
    password: inlineCredential(example.password),
  };
}

/** The member with the empty name, which holds credentials for tokens that may see them. */
export function namelessCredentials<Credentials extends z.ZodType>(kind: string, credentials: Credentials) {
  return z.union([credentials, z.array(z.unknown()).max(0)]).meta({
    description: `The credentials, or an empty array for a token without the ability \`${kind}:credentials\`. The member's name is empty.`,
  });
}

/** A credential at the place where other clients look for it. */
export function inlineCredential(example: string) {
  return z
    .string()
    .optional()
    .meta({ description: "The same as in the member with the empty name.", example });
}

/**
 * The `meta` of every resource.
 * @param noun the kind in the singular, such as `cache`.
 */
export function metaFields(noun: string, engineExample: { name: string; version: string }) {
  return {
    engine: z
      .object({
        name: z.string(),
        version: z.string(),
        warning: z.string().nullable().meta({
          description:
            "A warning that the engine lacks security fixes or gets none any more; null without such a fault. The operator of the host can update the engine.",
        }),
      })
      .nullable()
      .meta({
        description: "The engine that runs; null before the choice of the engine.",
        example: { ...engineExample, warning: null },
      }),
    last_error: z
      .string()
      .nullable()
      .meta({
        description: `The reason why the last attempt to bring the ${noun} to its desired state failed.`,
        example: null,
      }),
    overdue: z
      .boolean()
      .meta({ description: `Whether the ${noun} has missed the deadline of its change.`, example: false }),
    storage_bytes: z.int().min(0).nullable().meta({
      description: "Bytes on the disk at the host's latest measurement; null before the first measurement.",
      example: 41_943_040,
    }),
  };
}
