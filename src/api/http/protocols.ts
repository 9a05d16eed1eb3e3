// Serves the protocols of other programs: authenticates and counts their requests like those of the API.
import type { Context } from "hono";
import { authenticate } from "../auth/auth.ts";
import { apiErrorOf, type ApiError } from "../jsonapi/errors.ts";
import type { Protocol } from "../operation/protocol.ts";
import { countCall, type RequestNotes, type Shell } from "./execute.ts";
import { urlOf } from "./request-url.ts";

/** What a client without a valid token is asked for. */
const CHALLENGE = { "WWW-Authenticate": 'Basic realm="Pilvi", charset="UTF-8"' };

/** The longest pair of a name and a password, in Base64. */
const MAX_CREDENTIALS = 4_096;

/** The handler of a protocol for the router. */
export function protocolHandler({ path, handle }: Protocol, shell: Shell) {
  return async (context: Context<RequestNotes>): Promise<Response> => {
    context.set("route", path);
    const request = context.req.raw;
    try {
      const principal = await authenticate(shell, credentialsOf(request));
      countCall(context, shell.limiter, principal);
      const answer = await handle({
        request,
        url: urlOf(request),
        params: context.req.param() as Record<string, string>,
        principal: { ...principal, address: context.env.address },
        requestId: context.get("requestId"),
        closing: shell.closing,
        waiters: shell.waiters,
      });
      return context.newResponse(answer.body, answer);
    } catch (error) {
      return answerText(context, apiErrorOf(error), shell);
    }
  };
}

/** A session's cookie counts for nothing here: the pages of browsers must not reach these addresses. */
function credentialsOf({ headers }: Request): { authorization: string; sessionSecret: undefined } {
  const header = headers.get("authorization") ?? "";
  const [, pair = ""] = /^Basic +([\w+/=]+) *$/i.exec(header) ?? [];
  if (pair === "" || pair.length > MAX_CREDENTIALS)
    return { authorization: header, sessionSecret: undefined };
  const text = Buffer.from(pair, "base64").toString("utf8");
  const password = text.slice(text.indexOf(":") + 1);
  return { authorization: `Bearer ${password}`, sessionSecret: undefined };
}

/** Clients such as git show the text of an answer, and ask for a password when the answer says so. */
function answerText(context: Context<RequestNotes>, error: ApiError, { log }: Shell): Response {
  if (error.status >= 500) {
    log.error({ error: error.cause ?? error, requestId: context.get("requestId") }, "a request failed");
  }
  const headers = { ...error.headers, ...(error.status === 401 && CHALLENGE) };
  for (const [name, value] of Object.entries(headers)) context.header(name, value);
  context.header("Content-Type", "text/plain; charset=utf-8");
  context.status(error.status as Parameters<typeof context.status>[0]);
  return context.body(`${error.message}\n`);
}
