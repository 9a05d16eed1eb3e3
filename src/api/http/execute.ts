// Runs one operation for one request: authenticate, count, authorize, validate, handle, answer.
import type { Context } from "hono";
import type { Log } from "../../lib/log.ts";
import type { Database } from "../../store/database.ts";
import { addressOf } from "../operation/address.ts";
import {
  authenticate,
  callerId,
  isStillValid,
  mayCall,
  type Credentials,
  type Principal,
} from "../auth/auth.ts";
import { clientOf, refuseForeign, requireOwn } from "../auth/client.ts";
import { sessionSecretOf } from "../auth/cookies.ts";
import { deprecationHeaders } from "../operation/deprecation.ts";
import { ApiError, forbidden, unauthenticated } from "../jsonapi/errors.ts";
import {
  EVENT_STREAM,
  LAST_EVENT_ID,
  type AnyOperation,
  type Operation,
  type Reply,
} from "../operation/operation.ts";
import type { SocketHandler } from "../operation/client-socket.ts";
import type { Bodies } from "./bodies.ts";
import { compress, encodingFor } from "./encodings.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { readInput } from "./request-input.ts";
import { urlOf } from "./request-url.ts";
import { RequestWaits, type StatusWaiters } from "../operation/wait.ts";

/** The end of the refusal of a token where a person is needed. */
const NEEDS_USER = "Only a signed-in user may do this; a token may not.";

const TOO_MANY_UNDER_WAY =
  "Too many requests of this organization are under way at once. Try again when some are answered.";
/** The connection ends, since a body that nobody has read may follow. */
const REFUSED_UNREAD = { "Retry-After": "1", Connection: "close" };

/** The client of a request, as the server knows it. */
export interface Caller {
  /** The IP address; left out where it is not known. */
  address?: string;
  /**
   * Called when the request has come with a valid token or session.
   * @param owner the family of its organization.
   * @returns false when too many requests of the family are under way for another.
   */
  prove?(owner: string): boolean;
  /** Makes the connection of the request a WebSocket; false when it cannot. */
  upgrade?(handler: SocketHandler): boolean;
}

/** The notes of the shell about a request that is being answered. */
export interface RequestNotes {
  Bindings: Caller;
  Variables: { requestId: string; route: string; callerId: string | undefined };
}

/** The dependencies of operations. */
export interface Shell {
  db: Database;
  log: Log;
  limiter: RateLimiter;
  bodies: Bodies;
  waiters: StatusWaiters;
  closing: AbortSignal;
  /** The plural nouns of all resource kinds, which roles and abilities are made of. */
  kinds: readonly string[];
}

/** The handler of an operation for the router. */
export function executorOf(operation: AnyOperation, shell: Shell) {
  return async (context: Context<RequestNotes>): Promise<Response> => {
    context.set("route", operation.path);
    const params = context.req.param() as Record<string, string>;
    addDeprecation(context, operation, params);
    const request = context.req.raw;
    const url = urlOf(request);
    refuseUnlessHandshake(operation, request);
    const client = clientOf(request, url, context.env.address ?? "");
    const proven = await principalOf(operation, context, shell, url);
    const authenticated = proven && { ...proven, address: client.address };
    const address = addressOf(operation.deprecated?.successor ?? operation.path, params);
    const target = { url, address, params, principal: authenticated, bodies: shell.bodies };
    const { isLate, ...input } = await readInput(operation, request, target);
    const principal = isLate ? await validAfterWait(operation, shell, authenticated) : authenticated;
    const asked = {
      ...input,
      client,
      url,
      address,
      requestId: context.get("requestId"),
      signal: request.signal,
      closing: shell.closing,
      accept: context.req.header("accept") ?? "",
      lastEventId: context.req.header(LAST_EVENT_ID) ?? null,
      waiters: new RequestWaits(shell.waiters),
    };
    if (operation.isOpen === true)
      return await respond(context, operation, await operation.handle({ ...asked, principal }));
    if (principal === null) throw unauthenticated();
    return await respond(context, operation, await answerOf(operation, shell, { ...asked, principal }));
  };
}

/**
 * The answer of an operation. An answer that was held may have what is not for the principal any more, and so may a
 * refusal, which says what has become of a resource.
 * @throws ApiError 401 when the rights have gone meanwhile.
 */
async function answerOf(
  operation: Operation,
  shell: Shell,
  asked: Parameters<Operation["handle"]>[0] & { waiters: RequestWaits },
): Promise<Reply> {
  try {
    return await operation.handle(asked);
  } finally {
    if (asked.waiters.hasWaited) await validAfterWait(operation, shell, asked.principal);
  }
}

/** The status of a request that becomes a WebSocket. */
const SWITCHING = 101;

const SAFE_METHODS = new Set(["GET", "HEAD"]);

/**
 * The principal of the request, which may run the operation.
 * @returns null for a client of an open operation that has not signed in.
 * @throws ApiError 401, 403, 429
 */
async function principalOf(
  operation: AnyOperation,
  context: Context<RequestNotes>,
  shell: Shell,
  url: URL,
): Promise<Principal | null> {
  const request = context.req.raw;
  const credentials = credentialsOf(request, url);
  const isBySession = credentials.authorization === undefined && credentials.sessionSecret !== undefined;
  // Browsers let a page of any site open a WebSocket, with the cookies of this one.
  const isSafe = SAFE_METHODS.has(request.method) && operation.success.status !== SWITCHING;
  // A page of another site could otherwise sign its reader in to an account of its own.
  if (!isSafe && operation.isOpen === true) refuseForeign(request, url);
  if (!isSafe && isBySession) requireOwn(request, url);
  if (operation.isOpen === true) return await authenticate(shell, credentials).catch(nullUnlessOther);
  const principal = await authenticate(shell, credentials);
  countCall(context, shell.limiter, principal);
  if (!mayCall(principal, operation.ability)) throw forbidden([operation.ability ?? []].flat());
  if (operation.isForUsers === true && principal.kind !== "session") throw forbidden(NEEDS_USER);
  return principal;
}

/**
 * The principal of a request that had to wait, for its body or for a status; it may have lost its rights meanwhile.
 * @throws ApiError 401
 */
async function validAfterWait(
  operation: AnyOperation,
  { db }: Shell,
  principal: Principal | null,
): Promise<Principal | null> {
  if (principal === null || (await isStillValid(db, principal))) return principal;
  if (operation.isOpen === true) return null;
  throw unauthenticated();
}

/** A client of an open operation may have a session that has ended. */
function nullUnlessOther(error: unknown): null {
  if (error instanceof ApiError && error.status === 401) return null;
  throw error;
}

function credentialsOf({ headers }: Request, url: URL): Credentials {
  return {
    authorization: headers.get("authorization") ?? undefined,
    sessionSecret: sessionSecretOf(headers.get("cookie"), url),
  };
}

function addDeprecation(context: Context, operation: AnyOperation, params: Record<string, string>): void {
  if (operation.deprecated === undefined) return;
  const headers = deprecationHeaders(operation.deprecated, params);
  for (const [name, value] of Object.entries(headers)) context.header(name, value);
}

/**
 * Notes who calls, and counts the request.
 * @throws ApiError 429
 */
export function countCall(context: Context<RequestNotes>, limiter: RateLimiter, principal: Principal): void {
  const hasRoom = context.env.prove?.(principal.familyId) ?? true;
  context.set("callerId", callerId(principal));
  if (!hasRoom) throw new ApiError(429, TOO_MANY_UNDER_WAY, { headers: REFUSED_UNREAD });
  const allowance = limiter.take(callerId(principal));
  for (const [name, value] of Object.entries(allowance.headers)) context.header(name, value);
  if (!allowance.isExceeded) return;
  throw new ApiError(
    429,
    `This ${principal.kind === "token" ? "token" : "user"} has made too many requests. Wait as long as Retry-After says.`,
    {
      headers: { "Retry-After": String(allowance.resetSeconds) },
    },
  );
}

/** @throws ApiError 426 for a request that is no handshake. */
function refuseUnlessHandshake({ success }: AnyOperation, { headers }: Request): void {
  const isHandshake = headers.get("upgrade")?.toLowerCase() === "websocket";
  if (success.status === SWITCHING && !isHandshake) throw notUpgraded();
}

/** Hands the connection over. @throws ApiError 426 */
function becomeSocket(context: Context<RequestNotes>, socket: SocketHandler): Response {
  if (context.env.upgrade?.(socket) === true) return new Response(null, { status: SWITCHING });
  socket.closed();
  throw notUpgraded();
}

function notUpgraded(): ApiError {
  const headers = { Upgrade: "websocket", Connection: "Upgrade" };
  return new ApiError(426, "Open this address as a WebSocket.", { headers });
}

async function respond(
  context: Context<RequestNotes>,
  operation: AnyOperation,
  reply: Reply,
): Promise<Response> {
  if (reply.socket !== undefined) return becomeSocket(context, reply.socket);
  const { success } = operation;
  for (const [name, value] of Object.entries(reply.headers ?? {})) context.header(name, value);
  context.status(success.status);
  if (reply.stream !== undefined) {
    context.header("Content-Type", reply.streamType ?? EVENT_STREAM);
    return context.body(reply.stream);
  }
  if (reply.document === undefined) return context.body(null);
  context.header("Content-Type", success.contentType ?? "application/json");
  const text = JSON.stringify(reply.document);
  if (success.isCompressed !== true) return context.body(text);
  context.header("Vary", "Accept-Encoding");
  const encoding = encodingFor(context.req.header("accept-encoding") ?? "");
  if (encoding === undefined) return context.body(text);
  context.header("Content-Encoding", encoding.name);
  return context.body(await compress(text, encoding));
}
