// The frame of every request: its id, the security headers, the check of the host name, metrics and one log line.
import type { Context, Next } from "hono";
import type { Log } from "../../lib/log.ts";
import { apiErrorOf, type ApiError } from "../jsonapi/errors.ts";
import type { RequestNotes } from "./execute.ts";
import type { Metrics } from "./metrics.ts";
import { checkHost, SECURITY_HEADERS } from "./security.ts";

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The outermost step of every request. */
export function frame(log: Log, metrics: Metrics, hostnames: readonly string[]) {
  return async (context: Context<RequestNotes>, next: Next): Promise<void> => {
    const startedAtMs = performance.now();
    const requestId = requestIdOf(context.req.header("x-request-id"));
    context.set("requestId", requestId);
    context.set("route", "none");
    context.header("X-Request-Id", requestId);
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) context.header(name, value);
    try {
      checkHost(context.req.header("host"), hostnames);
      await next();
    } catch (error) {
      // The router handles errors of handlers; this handles errors of the frame itself.
      context.res = answerFault(error, context, log);
    }
    const durationMs = performance.now() - startedAtMs;
    const { method } = context.req;
    const { status } = context.res;
    const route = context.get("route");
    metrics.observeRequest(method, route, status, durationMs / 1000);
    log.info(
      { method, route, status, durationMs: round(durationMs), requestId, callerId: context.get("callerId") },
      "request",
    );
  };
}

/** Answers with an error, and logs the cause of an error of our own. */
export function errorHandler(log: Log) {
  return (error: Error, context: Context<RequestNotes>): Response => answerFault(error, context, log);
}

function answerFault(error: unknown, context: Context<RequestNotes>, log: Log): Response {
  const apiError = apiErrorOf(error);
  if (apiError.status >= 500) {
    log.error({ error: apiError.cause ?? apiError, requestId: context.get("requestId") }, "a request failed");
  }
  return answerError(context, apiError);
}

function answerError(context: Context, error: ApiError): Response {
  for (const [name, value] of Object.entries(error.headers)) context.header(name, value);
  context.header("Content-Type", "application/json");
  context.status(error.status as Parameters<typeof context.status>[0]);
  return context.body(JSON.stringify(error.document));
}

function requestIdOf(header: string | undefined): string {
  return header !== undefined && REQUEST_ID.test(header) ? header : Bun.randomUUIDv7();
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
