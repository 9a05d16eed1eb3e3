// The shapes of requests for a WebSocket application, and of an application in an answer.
import { z } from "zod";
import { resourceIdentifier } from "../../../api/jsonapi/jsonapi.ts";
import { createdAt, inlineCredential, namelessCredentials } from "../../shared/fields.ts";
import { fields, newFields } from "./fields.ts";

/** The body of `POST /websocket-servers/:id/applications`. */
export const newApplication = z.object(newFields).meta({ id: "NewWebsocketApplication" });

export type NewApplication = z.output<typeof newApplication>;
/** The body as clients send it, without the defaults. */
export type NewApplicationBody = z.input<typeof newApplication>;

/** The body of `PATCH /websocket-applications/:id`. Lists are replaced as a whole. */
export const applicationChange = z.object(fields).partial().meta({ id: "WebsocketApplicationChange" });

export type ApplicationChange = z.output<typeof applicationChange>;

const DAY_SECONDS = 86_400;

/** The body of `POST /websocket-applications/:id/rotate-secret`. */
export const secretRotation = z
  .object({
    grace_seconds: z
      .int()
      .min(0)
      .max(7 * DAY_SECONDS)
      .default(DAY_SECONDS)
      .meta({
        description:
          "How long earlier secrets stay good at most, in seconds; with 0 they are refused as soon as the cluster is `available` again.",
        example: 3600,
      }),
  })
  .meta({ id: "WebsocketSecretRotation" });

export type SecretRotation = z.output<typeof secretRotation>;
/** The body as clients send it, without the defaults. */
export type SecretRotationBody = z.input<typeof secretRotation>;

const credentials = z.object({ key: z.string(), secret: z.string() }).meta({
  id: "WebsocketCredentials",
  example: { key: "k3f9x2m7q0v5t8c1b6n4", secret: "3Zp0vXkq7TzN1hYcR8mWb2LsJ5dQfG9a" },
});

const attributes = z
  .object({
    ...fields,
    app_id: z
      .string()
      .regex(/^\d+$/)
      .meta({ description: "Digits; names the application in the HTTP API.", example: "10001" }),
    max_connections: z
      .int()
      .min(1)
      .meta({ description: "The application's part of the cluster's connections.", example: 100 }),
    created_at: createdAt,
    "": namelessCredentials("websockets", credentials),
    key: inlineCredential("k3f9x2m7q0v5t8c1b6n4"),
    secret: inlineCredential("3Zp0vXkq7TzN1hYcR8mWb2LsJ5dQfG9a"),
  })
  .meta({ id: "WebsocketApplicationAttributes" });

const meta = z
  .object({
    former_secrets: z.array(z.object({ expires_at: z.iso.datetime() })).meta({
      description: "Secrets that were rotated out and are still good, the newest first.",
      example: [{ expires_at: "2026-03-16T08:18:53.000Z" }],
    }),
  })
  .meta({ id: "WebsocketApplicationMeta", description: "Facts beyond the attributes." });

/** An application as answers show it. */
export const applicationResource = z
  .object({
    id: z.string().meta({ example: "wsa-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
    type: z.literal("websocketApplications"),
    attributes,
    relationships: z.object({
      server: z
        .object({ data: resourceIdentifier("websocketServers").nullable() })
        .meta({ description: "The cluster of the application." }),
      environments: z
        .object({ data: z.array(resourceIdentifier("environments")) })
        .meta({ description: "Environments that use the application." }),
    }),
    meta,
  })
  .meta({ id: "WebsocketApplication" });

export type ApplicationResource = z.output<typeof applicationResource>;
