// The OpenAPI document, made from the same declarations as routes, authorization and validation.
import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponsesObject,
} from "zod-openapi";
import { deprecationHeaderSchemas } from "../operation/deprecation.ts";
import { quoted } from "../jsonapi/errors.ts";
import { documentedErrors, errorComponents } from "./openapi-errors.ts";
import { schemaDescriber, withoutRefusals } from "./openapi-schemas.ts";
import { IDEMPOTENCY_KEY, idempotencyKey } from "../operation/idempotency.ts";
import { CSV, EVENT_STREAM, LAST_EVENT_ID, type AnyOperation } from "../operation/operation.ts";

export type OpenApiDocument = ReturnType<typeof createDocument>;

const API_VERSION = "0.0.1";

const INTRODUCTION = `Creates and runs real databases, caches and WebSocket clusters.

Every request needs \`Authorization: Bearer <token>\`, or the cookie of a session; a request with a cookie that changes something must come from a page of this address. Answers with resources are \`application/vnd.api+json\`; errors are \`application/json\` with a \`message\`, and \`errors\` by field where fields are at fault. Members that are not known are ignored, and null stands for an optional member that is left out.`;

const rateLimitHeaders = {
  "X-RateLimit-Limit": z
    .int()
    .min(0)
    .meta({ description: "Requests a minute that the token has.", example: 600 }),
  "X-RateLimit-Remaining": z
    .int()
    .min(0)
    .meta({ description: "The requests that are left of this minute.", example: 599 }),
  "X-RateLimit-Reset": z
    .int()
    .min(0)
    .meta({ description: "The end of the minute, in seconds since 1970.", example: 1_773_562_740 }),
  "RateLimit-Policy": z
    .string()
    .meta({ description: "The limit, in the form of the IETF's draft.", example: '"token";q=600;w=60' }),
  RateLimit: z.string().meta({
    description: "The requests that are left, in the form of the IETF's draft.",
    example: '"token";r=599;t=42',
  }),
};

const requestIdHeader = z
  .string()
  .meta({ description: "The request's id, which also stands in the log.", example: "deploy-7f3a" });

const lastEventIdHeader = z.string().optional().meta({
  description: "The id of the last event that the client received; the stream resumes after that event.",
  example: "184",
});

/** The document for all operations, without `servers`. */
export function openApiDocument(operations: AnyOperation[]): OpenApiDocument {
  const paths: ZodOpenApiPathsObject = {};
  for (const operation of operations) {
    const path = operation.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation) };
  }
  const document = createDocument(
    {
      openapi: "3.1.0",
      info: { title: "Pilvi", version: API_VERSION, description: INTRODUCTION },
      security: [{ bearer: [] }, { session: [] }],
      tags: [...new Set(operations.map((operation) => operation.tag))].map((name) => ({ name })),
      paths,
      components: {
        securitySchemes: {
          bearer: {
            type: "http",
            scheme: "bearer",
            description: "A token, made in the console or with `pilvi token create`.",
          },
          session: {
            type: "apiKey",
            in: "cookie",
            name: "pilvi_session",
            description:
              "The session of a signed-in user; over HTTPS the cookie is named `__Host-pilvi_session`.",
          },
        },
        responses: errorComponents,
      },
    },
    { override: schemaDescriber(operations.flatMap(({ body }) => body ?? [])) },
  );
  return withoutRefusals(document);
}

function describe(operation: AnyOperation): ZodOpenApiOperationObject {
  return {
    operationId: operation.operationId,
    tags: [operation.tag],
    summary: operation.summary,
    description: `${operation.description}\n\n${abilityText(operation)}`,
    ...(operation.deprecated && { deprecated: true }),
    ...(operation.isOpen && { security: [] }),
    requestParams: {
      ...(operation.params && { path: operation.params }),
      query: z.object({ ...operation.query?.shape, ...includeParameter(operation) }),
      header: z.object({
        "X-Request-Id": requestIdHeader.optional().meta(requestIdHeader.meta() ?? {}),
        ...(operation.isIdempotent && {
          [IDEMPOTENCY_KEY]: idempotencyKey.optional().meta(idempotencyKey.meta() ?? {}),
        }),
        ...(operation.success.isResumable && { [LAST_EVENT_ID]: lastEventIdHeader }),
      }),
    },
    ...bodyOf(operation),
    responses: { ...successOf(operation), ...documentedErrors(operation) },
  };
}

function bodyOf({ body, upload }: AnyOperation): Pick<ZodOpenApiOperationObject, "requestBody"> {
  if (body !== undefined) {
    return { requestBody: { required: true, content: { "application/json": { schema: body } } } };
  }
  if (upload === undefined) return {};
  const schema = { type: "string", format: "binary" } as const;
  const content = Object.fromEntries(upload.contentTypes.map((type) => [type, { schema }]));
  return { requestBody: { required: true, description: upload.description, content } };
}

function abilityText({ ability, isOpen, isForUsers }: AnyOperation): string {
  if (isOpen === true) return "Needs no authentication.";
  const needed = typeof ability === "string" ? "the ability" : "one of the abilities";
  if (ability === null) return isForUsers ? "Only a signed-in user may." : "Every valid token may.";
  return `The token needs ${needed} ${quoted([ability].flat())}.`;
}

function successOf({ success, isIdempotent, deprecated }: AnyOperation): ZodOpenApiResponsesObject {
  const own = Object.entries(success.headers ?? {}).map(([name, description]) => [
    name,
    z.string().meta({ description }),
  ]);
  const replayed = z
    .literal("true")
    .optional()
    .meta({ description: "Present when the resource was made by an earlier request with the same key." });
  return {
    [`${success.status}`]: {
      description: success.description,
      headers: z.object({
        "X-Request-Id": requestIdHeader,
        ...z.object(rateLimitHeaders).partial().shape,
        ...Object.fromEntries(own),
        ...(deprecated && deprecationHeaderSchemas(deprecated)),
        ...(isIdempotent && { "Idempotent-Replayed": replayed }),
      }),
      ...(success.schema && {
        content: {
          [success.contentType ?? "application/json"]: { schema: success.schema },
          ...(success.stream !== undefined && {
            [EVENT_STREAM]: { schema: z.string().meta({ description: success.stream }) },
          }),
          ...(success.csv !== undefined && {
            [CSV]: { schema: z.string().meta({ description: success.csv }) },
          }),
        },
      }),
    },
  };
}

function includeParameter({ includes }: AnyOperation): Record<string, z.ZodType> {
  if (includes === undefined) return {};
  return {
    include: z
      .array(z.enum(includes))
      .optional()
      .meta({
        description:
          "Related resources to put into `included`. They may have 32 MiB together; an answer with more is a 422, for which there are smaller pages.",
        example: includes.slice(0, 1),
        param: { style: "form", explode: false },
      }),
  };
}
