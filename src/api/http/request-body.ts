// Reads the body of a request: UTF-8, JSON, an object; or opens it, where it is an upload.
import { ApiError, invalid } from "../jsonapi/errors.ts";
import type { UploadBody } from "../operation/operation.ts";
import { isObject } from "../operation/validation.ts";
import { refuseUnwieldy } from "./json-shape.ts";

/**
 * Reads the body as a JSON object; a missing body counts as an object without members.
 * @param body its bytes.
 * @throws ApiError 415, 400 or 422, whichever applies first.
 */
export async function readJsonObject({ headers }: Request, body: Promise<Uint8Array>): Promise<object> {
  const bytes = await body;
  if (bytes.length === 0) return {};
  const contentType = headers.get("content-type");
  if (contentType !== null && !isJson(contentType)) {
    throw new ApiError(415, "The body must be JSON, with Content-Type: application/json.");
  }
  refuseUnwieldy(bytes);
  const value = parseJson(bytes);
  if (!isObject(value)) throw invalid({ body: ["The body must be a JSON object."] });
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
