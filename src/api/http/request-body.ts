// Reads the body of a request: bounded, UTF-8, JSON, an object; or opens it, where it is an upload.
import { ApiError, invalid } from "../jsonapi/errors.ts";
import type { UploadBody } from "../operation/operation.ts";
import { isObject } from "../operation/validation.ts";

/** One mebibyte; the largest body that any operation needs is far smaller. */
export const MAX_BODY_BYTES = 1024 ** 2;

/** No operation knows more than a few levels of objects and arrays. */
const MAX_DEPTH = 64;

/**
 * Reads the body as a JSON object; a missing body counts as an object without members.
 * @throws ApiError 413, 415, 400 or 422, whichever applies first.
 */
export async function readJsonObject(request: Request): Promise<object> {
  const bytes = await readBytes(request);
  if (bytes.length === 0) return {};
  const contentType = request.headers.get("content-type");
  if (contentType !== null && !isJson(contentType)) {
    throw new ApiError(415, "The body must be JSON, with Content-Type: application/json.");
  }
  const value = parseJson(bytes);
  if (!isObject(value)) throw invalid({ body: ["The body must be a JSON object."] });
  refuseDeep(value);
  return value;
}

/**
 * The body as it comes, for an operation that takes an upload.
 * @throws ApiError 415 for another content type.
 */
export function openUpload(
  { headers, body }: Request,
  { contentTypes }: UploadBody,
): ReadableStream<Uint8Array> | null {
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  if (!contentTypes.includes(type.trim().toLowerCase())) {
    throw new ApiError(415, `The body must be an upload, with Content-Type: ${contentTypes.join(" or ")}.`);
  }
  return body;
}

/** Walks level by level: a walk by recursion ends with an error where a client has nested deeply enough. */
function refuseDeep(value: object): void {
  let level: object[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) throw invalid({ body: [`The body must have ${MAX_DEPTH} levels at most.`] });
    level = level.flatMap((each) => Object.values(each) as unknown[]).filter(isContainer);
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isJson(contentType: string): boolean {
  return /^application\/([\w.!#$&^-]+\+)?json\s*(;|$)/i.test(contentType.trim());
}

function parseJson(bytes: Uint8Array): unknown {
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ApiError(400, "The body is not valid UTF-8.", { cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ApiError(400, "The body is not valid JSON.", { cause });
  }
}

async function readBytes(request: Request): Promise<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  if (request.body === null) return new Uint8Array();
  try {
    return await receiveBytes(request, request.body);
  } catch (cause) {
    // Nobody reads this answer. As a fault of the service, each such client would fill the log with it.
    if (request.signal.aborted) throw new ApiError(400, "The body has ended too early.", { cause });
    throw cause;
  }
}

async function receiveBytes(request: Request, body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  // A body of announced length is read at once; any other may be endless and is counted as it comes.
  if (request.headers.has("content-length")) return new Uint8Array(await request.arrayBuffer());
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(): ApiError {
  return new ApiError(413, `The body is larger than ${MAX_BODY_BYTES} bytes.`);
}
