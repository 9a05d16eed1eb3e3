// Runs one operation for one request: authenticate, count, authorize, validate, handle, answer.
import type { Context } from "hono";
import type { Log } from "../../lib/log.ts";
import type { Database } from "../../store/database.ts";
import { addressOf } from "../operation/address.ts";
import { authenticate, mayCall } from "../auth/auth.ts";
import { deprecationHeaders } from "../operation/deprecation.ts";
import { ApiError, forbidden } from "../jsonapi/errors.ts";
import { EVENT_STREAM, LAST_EVENT_ID, type Operation, type Reply } from "../operation/operation.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { readInput } from "./request-input.ts";
import { urlOf } from "./request-url.ts";
import type { StatusWaiters } from "../operation/wait.ts";

/** The client of a request, as the server knows it. */
export interface Caller {
  /** Called when the request has come with a valid token. @param owner the organization of the token. */
  prove?(owner: string): void;
}

/** The notes of the shell about a request that is being answered. */
export interface RequestNotes {
  Bindings: Caller;
  Variables: { requestId: string; route: string; tokenId: string | undefined };
}

/** The dependencies of operations. */
export interface Shell {
  db: Database;
  log: Log;
  limiter: RateLimiter;
  waiters: StatusWaiters;
  closing: AbortSignal;
}

/** The handler of an operation for the router. */
export function executorOf(operation: Operation, shell: Shell) {
  return async (context: Context<RequestNotes>): Promise<Response> => {
    context.set("route", operation.path);
    const params = context.req.param() as Record<string, string>;
    addDeprecation(context, operation, params);
    const principal = await authenticate(shell.db, shell.log, context.req.header("authorization"));
    context.env.prove?.(principal.organizationId);
    context.set("tokenId", principal.tokenId);
    countRequest(context, shell.limiter, principal.tokenId);
    if (!mayCall(principal, operation.ability)) throw forbidden();
    const url = urlOf(context.req.raw);
    const address = addressOf(operation.deprecated?.successor ?? operation.path, params);
    const input = await readInput(operation, context.req.raw, { url, address, params, principal });
    const reply = await operation.handle({
      ...input,
      principal,
      url,
      address,
      requestId: context.get("requestId"),
      signal: context.req.raw.signal,
      closing: shell.closing,
      lastEventId: context.req.header(LAST_EVENT_ID) ?? null,
      waiters: shell.waiters,
    });
    return respond(context, operation, reply);
  };
}

function addDeprecation(context: Context, operation: Operation, params: Record<string, string>): void {
  if (operation.deprecated === undefined) return;
  const headers = deprecationHeaders(operation.deprecated, params);
  for (const [name, value] of Object.entries(headers)) context.header(name, value);
}

function countRequest(context: Context, limiter: RateLimiter, tokenId: string): void {
  const allowance = limiter.take(tokenId);
  for (const [name, value] of Object.entries(allowance.headers)) context.header(name, value);
  if (!allowance.isExceeded) return;
  throw new ApiError(429, "This token has made too many requests. Wait as long as Retry-After says.", {
    headers: { "Retry-After": String(allowance.resetSeconds) },
  });
}

function respond(context: Context, operation: Operation, reply: Reply): Response {
  const { success } = operation;
  for (const [name, value] of Object.entries(reply.headers ?? {})) context.header(name, value);
  context.status(success.status);
  if (reply.stream !== undefined) {
    context.header("Content-Type", EVENT_STREAM);
    return context.body(reply.stream);
  }
  if (reply.document === undefined) return context.body(null);
  context.header("Content-Type", success.contentType ?? "application/json");
  return context.body(JSON.stringify(reply.document));
}
