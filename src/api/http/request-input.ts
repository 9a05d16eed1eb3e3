// Turns an HTTP request into the input of an operation's handler, or into the list of all its faults.
import type { Principal } from "../auth/auth.ts";
import { invalid, notFound, type FieldErrors } from "../jsonapi/errors.ts";
import { refuseUnknownFilters } from "../jsonapi/filters.ts";
import {
  IDEMPOTENCY_KEY,
  idempotencyKey,
  requestHash,
  type IdempotentRequest,
} from "../operation/idempotency.ts";
import { readIncludes } from "../jsonapi/includes.ts";
import type { AnyOperation } from "../operation/operation.ts";
import { outlastsTurn } from "../../lib/turns.ts";
import type { Bodies } from "./bodies.ts";
import { openUpload, readJsonObject } from "./request-body.ts";
import { addFault, checkObject } from "../operation/validation.ts";

/** Query members with a list of values: `filter[type]`, `instances[]`. */
const LIST_NAME = /^filter\[.+\]$|\[\]$/;

/** The validated parts of a request. */
export interface Input {
  body: Record<string, unknown>;
  query: Record<string, unknown>;
  params: Record<string, unknown>;
  includes: string[];
  idempotency: IdempotentRequest | undefined;
  upload: ReadableStream<Uint8Array> | null;
  /** Whether the body had not come yet, so that much may have changed while it came. */
  isLate: boolean;
}

/** The address that a request was sent to. */
export interface Target {
  url: URL;
  /** The path of the operation, or of its successor where it is deprecated. */
  address: string;
  /** The variable parts of the path. */
  params: Record<string, string>;
  /** Null for a client of an open operation that has not signed in. */
  principal: Principal | null;
  /** Receives the body. */
  bodies: Bodies;
}

/**
 * Reads and checks everything that the operation declares.
 * @throws ApiError 422 naming every failing field, or 400, 404, 408, 413, 415, 429.
 */
export async function readInput(
  operation: AnyOperation,
  request: Request,
  { url, address, params: pathParams, principal, bodies }: Target,
): Promise<Input> {
  const params = readParams(operation, pathParams);
  refuseUnknownFilters(url.searchParams, Object.keys(operation.query?.shape ?? {}));
  const includes = readIncludes(url.searchParams, operation.includes);
  const query = operation.query
    ? checkObject(operation.query, queryMembers(url.searchParams))
    : { valid: {}, errors: {} };
  const errors = { ...query.errors };
  const { body, isLate } = await readBody(operation, request, { principal, params, bodies }, errors);
  const repeated = operation.upload === undefined ? body : query.valid;
  const idempotency = readIdempotency(operation, request, address, repeated, errors);
  if (Object.keys(errors).length > 0) throw invalid(errors);
  const upload = operation.upload === undefined ? null : openUpload(request, operation.upload);
  return { body, query: query.valid, params, includes, idempotency, upload, isLate };
}

/**
 * The query as an object. A list of values may come as one text with commas or, as forms and many clients send it, one
 * by one; of any other member that comes twice, the last counts. `readIncludes` reads `include` itself.
 */
function queryMembers(query: URLSearchParams): Record<string, string> {
  const members: Record<string, string> = {};
  for (const [name, value] of query) {
    const former = LIST_NAME.test(name) ? members[name] : undefined;
    members[name] = former === undefined ? value : `${former},${value}`;
  }
  return members;
}

function readParams(operation: AnyOperation, pathParams: Record<string, string>): Record<string, unknown> {
  if (operation.params === undefined) return {};
  const { valid, errors } = checkObject(operation.params, pathParams);
  if (Object.keys(errors).length > 0) throw notFound("resource");
  return valid;
}

async function readBody(
  operation: AnyOperation,
  request: Request,
  { principal, params, bodies }: Pick<Target, "principal" | "bodies"> & Pick<Input, "params">,
  errors: FieldErrors,
): Promise<Pick<Input, "body" | "isLate">> {
  if (operation.body === undefined) return { body: {}, isLate: false };
  const given = readJsonObject(request, bodies.receive(request, principal?.familyId ?? null));
  const isLate = await outlastsTurn(given);
  const body = checkObject(operation.body, await given);
  Object.assign(errors, body.errors);
  const between =
    principal === null ? {} : ((await operation.check?.(body.valid, { principal, params })) ?? {});
  for (const [field, sentences] of Object.entries(between)) addFault(errors, field, ...sentences);
  return { body: body.valid, isLate };
}

function readIdempotency(
  operation: AnyOperation,
  request: Request,
  address: string,
  body: unknown,
  errors: FieldErrors,
): IdempotentRequest | undefined {
  const header = request.headers.get(IDEMPOTENCY_KEY);
  if (header === null || operation.isIdempotent !== true) return undefined;
  const parsed = idempotencyKey.safeParse(header);
  if (parsed.success) {
    return { key: parsed.data, requestHash: requestHash(operation.method, address, body) };
  }
  addFault(errors, IDEMPOTENCY_KEY, "An Idempotency-Key has 1 to 255 printable ASCII characters.");
  return undefined;
}
