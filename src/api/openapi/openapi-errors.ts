// The error answers of the OpenAPI document: which errors an operation can give, and the shape of each.
import { z } from "zod";
import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from "zod-openapi";
import type { AnyOperation } from "../operation/operation.ts";

const errorBody = z
  .object({ message: z.string().meta({ description: "The fault as a sentence." }) })
  .meta({ id: "Error" });

const validationErrorBody = z
  .object({
    message: z.string().meta({ description: "The fault as a sentence." }),
    errors: z
      .record(z.string(), z.array(z.string()))
      .meta({ description: "Every failing field with sentences about it." }),
    engine: z
      .object({
        code: z.string().meta({
          description: "The SQLSTATE of a Postgres, or the error number of a MySQL.",
          example: "42P01",
        }),
        position: z.int().nullable().meta({
          description: "The character of the statement that the fault is about, from 1.",
          example: 15,
        }),
        detail: z.string().nullable(),
        hint: z.string().nullable(),
      })
      .optional()
      .meta({
        id: "EngineFault",
        description: "What a database engine said about the statement of a query; left out for other fields.",
      }),
  })
  .meta({ id: "ValidationError" });

const REQUEST_ID = z.string().meta({ description: "The request's id, which also stands in the log." });

const RETRY_AFTER = z
  .int()
  .min(1)
  .meta({ description: "Seconds to wait before the next attempt.", example: 30 });

/** An error without fields. */
function plain(
  description: string,
  message: string,
  headers: Record<string, z.ZodType> = {},
): ZodOpenApiResponseObject {
  return {
    description,
    headers: z.object({ "X-Request-Id": REQUEST_ID, ...headers }),
    content: { "application/json": { schema: errorBody, example: { message } } },
  };
}

/** The error answers by their name in the document. */
export const errorComponents: Record<string, ZodOpenApiResponseObject> = {
  BadRequest: plain(
    "The body is not JSON, or a filter or include is not known.",
    "The body is not valid JSON.",
  ),
  Unauthenticated: plain(
    "The token or session is missing, unknown, expired or revoked, or a password is wrong.",
    "Unauthenticated.",
    {
      "WWW-Authenticate": z.string().meta({ description: "Always `Bearer`.", example: "Bearer" }),
    },
  ),
  Forbidden: plain(
    "The token or the role lacks the ability, which the message names, or a page of another address sent the request.",
    "This action is unauthorized. It needs the ability `caches:write`.",
  ),
  NotFound: plain("There is no such resource in the token's organization.", "There is no such cache."),
  Conflict: plain(
    "The resource that was made with this Idempotency-Key has been deleted since, or the state of the resource or of its parent does not allow the request.",
    "The resource that was made with this Idempotency-Key has been deleted since. Use a new key.",
  ),
  Gone: plain(
    "The event that the stream should resume after is not kept any more.",
    "The event 184 is not kept any more. List the events, then follow them anew.",
  ),
  TooSlow: plain("The body has not come in time.", "The body has not come within 60 s."),
  TooLarge: plain("The body is too large.", "The body is larger than 1048576 bytes."),
  UnsupportedMediaType: plain(
    "The body is not declared as JSON or, for an upload, as an archive.",
    "The body must be JSON, with Content-Type: application/json.",
  ),
  Invalid: {
    description: "Fields are not valid; all of them are named.",
    headers: z.object({ "X-Request-Id": REQUEST_ID }),
    content: {
      "application/json": {
        schema: validationErrorBody,
        example: {
          message: "This field is not valid: name.",
          errors: { name: ["The field name must have at least 2 characters."] },
        },
      },
    },
  },
  NoWebSocket: plain("The request is no handshake of a WebSocket.", "Open this address as a WebSocket."),
  TooManyRequests: plain(
    "The token has made too many requests.",
    "This token has made too many requests. Wait as long as Retry-After says.",
    { "Retry-After": RETRY_AFTER },
  ),
  Failed: plain(
    "Something unexpected went wrong.",
    "Something went wrong here. The log has the details under the request id.",
  ),
  Unavailable: plain(
    "The service cannot do this at the moment.",
    "The service cannot reach its store at the moment. Try again soon.",
    { "Retry-After": RETRY_AFTER.optional() },
  ),
};

/** The errors that an operation of this shape can answer, by status. */
export function documentedErrors(operation: AnyOperation): ZodOpenApiResponsesObject {
  const hasBody = operation.body !== undefined || operation.upload !== undefined;
  const hasQuery = operation.query !== undefined;
  const canConflict = operation.isIdempotent === true || operation.canConflict === true;
  // A key that is malformed, or that another request had, is refused like a field.
  const canRefuse = operation.isIdempotent === true || operation.canRefuse === true;
  const applies: [status: number, name: string, applies: boolean][] = [
    [400, "BadRequest", hasBody || hasQuery || operation.includes !== undefined],
    [401, "Unauthenticated", true],
    [
      403,
      "Forbidden",
      operation.ability !== null || operation.isForUsers === true || operation.isOpen === true,
    ],
    [404, "NotFound", operation.params !== undefined],
    [408, "TooSlow", operation.body !== undefined],
    [409, "Conflict", canConflict],
    [410, "Gone", operation.success.stream !== undefined],
    [413, "TooLarge", hasBody],
    [415, "UnsupportedMediaType", hasBody],
    [422, "Invalid", hasBody || hasQuery || canRefuse],
    [426, "NoWebSocket", operation.success.status === 101],
    [429, "TooManyRequests", true],
    [500, "Failed", true],
    [503, "Unavailable", true],
  ];
  return Object.fromEntries(
    applies
      .filter(([, , does]) => does)
      .map(([status, name]) => [`${status}`, { $ref: `#/components/responses/${name}` }]),
  ) as ZodOpenApiResponsesObject;
}
