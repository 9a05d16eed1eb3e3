// Checks signatures of requests: a request that is signed with a secret of the application may do everything in it.
import { isSignedBy, md5Hex } from "../protocol/signatures.ts";
import { HttpError } from "./answer.ts";
import { type Query, unescapedPath } from "./query.ts";
import type { HttpApplication } from "./target.ts";

/** How far the client's clock may be from ours, either way. */
const MAX_CLOCK_DIFFERENCE_SECONDS = 600;

const TIMESTAMP = /^\d{1,12}(?:\.\d+)?$/;

/** The signed parts of a request, beside its body. */
interface SignedRequest {
  method: string;
  /** As written in the URL. */
  path: string;
  query: Query;
}

/**
 * Makes sure that the application signed the request, except for its body.
 * @throws HttpError 401, with the reason.
 */
export function checkSignature(application: HttpApplication, request: SignedRequest, nowMs: number): void {
  const { query } = request;
  const key = parameter(query, "auth_key");
  if (key !== application.config.key) throw new HttpError(401, "Unknown auth_key");
  checkVersion(query.get("auth_version"));
  checkTimestamp(query.get("auth_timestamp"), nowMs);
  const signature = parameter(query, "auth_signature");
  const secrets = application.validSecrets();
  const text = signedText(request, request.path);
  if (isSignedBy(secrets, text, signature)) return;

  // Some clients sign the path before they escape it for the URL.
  const plainText = signedText(request, unescapedPath(request.path));
  if (plainText !== text && isSignedBy(secrets, plainText, signature)) return;
  const hint = `you should have sent HmacSHA256Hex(${JSON.stringify(text)}, your_secret_key)`;
  throw new HttpError(401, `Invalid signature: ${hint}, but you sent ${JSON.stringify(signature)}`);
}

/**
 * Makes sure that the body is the signed body.
 * @throws HttpError 401.
 */
export function checkBody(query: Query, body: string): void {
  const signed = query.get("body_md5");
  if (signed === undefined && body === "") return;
  if (signed === undefined) throw new HttpError(401, "Missing parameter: body_md5");
  if (signed.toLowerCase() !== md5Hex(body))
    throw new HttpError(401, "Invalid body_md5: it is not the MD5 of the body");
}

function signedText({ method, query }: SignedRequest, path: string): string {
  return `${method}\n${path}\n${query.signedText()}`;
}

function parameter(query: Query, name: string): string {
  const value = query.get(name);
  if (value === undefined || value === "") throw new HttpError(401, `Missing parameter: ${name}`);
  return value;
}

function checkVersion(version: string | undefined): void {
  if (version === undefined) throw new HttpError(401, "Version required");
  if (version !== "1.0") throw new HttpError(401, "Version not supported");
}

function checkTimestamp(text: string | undefined, nowMs: number): void {
  if (text === undefined || text === "") throw new HttpError(401, "Timestamp required");
  if (!TIMESTAMP.test(text))
    throw new HttpError(401, "Invalid auth_timestamp: it must be the seconds since 1970");
  const given = Math.floor(Number(text));
  const now = Math.floor(nowMs / 1000);
  if (Math.abs(now - given) <= MAX_CLOCK_DIFFERENCE_SECONDS) return;
  const range = `not within ${MAX_CLOCK_DIFFERENCE_SECONDS}s of server time (${isoSeconds(now)})`;
  throw new HttpError(401, `Timestamp expired: Given timestamp (${isoSeconds(given)}) ${range}`);
}

function isoSeconds(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}
