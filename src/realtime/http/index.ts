// The HTTP API of the realtime server, with which applications publish events and ask about channels.
import { emptyAnswer, failureAnswer, preflightAnswer, refusalAnswer, HttpError } from "./answer.ts";
import { checkBody, checkSignature } from "./authenticate.ts";
import { describeChannel, listChannels, listUsers } from "./channels.ts";
import { publishBatch, publishEvent } from "./publish.ts";
import { parseQuery } from "./query.ts";
import { type Route, routeOf, splitUrl } from "./route.ts";
import type { HttpApplication, HttpTarget } from "./target.ts";

export type { HttpApplication, HttpChannel, HttpTarget } from "./target.ts";

/** Larger than any valid batch can be, even if each character is escaped. */
const MAX_BODY_BYTES = 1024 * 1024;
const BODY_TOO_LARGE = `The body exceeds the allowed maximum (${MAX_BODY_BYTES} bytes)`;

/** Receives the errors of the server itself. */
type Report = (error: unknown) => void;

/**
 * Answers any request; never throws or rejects.
 * @param nowMs the time by which signatures expire.
 */
export function handleHttp(
  request: Request,
  target: HttpTarget,
  report: Report,
  nowMs = Date.now(),
): Response | Promise<Response> {
  try {
    const { method } = request;
    if (method === "OPTIONS") return preflightAnswer();
    const { path, query: queryText } = splitUrl(request.url);
    const route = routeOf(method, path);
    const application = target.applicationByAppId(route.appId);
    if (application === undefined)
      throw new HttpError(404, `There is no app with the id ${JSON.stringify(route.appId)}`);
    const query = parseQuery(queryText);
    checkSignature(application, { method, path, query }, nowMs);
    application.requested();

    if (route.endpoint === "channels") return listChannels(application, query);
    if (route.endpoint === "channel") return describeChannel(application, route.name, query);
    if (route.endpoint === "users") return listUsers(application, route.name);
    return withBody(request, report, (body) => {
      checkBody(query, body);
      return change(application, route, body);
    });
  } catch (error) {
    return errorAnswer(error, report);
  }
}

function change(application: HttpApplication, route: Route, body: string): Response | Promise<Response> {
  if (route.endpoint === "events") return publishEvent(application, body);
  if (route.endpoint === "batch_events") return publishBatch(application, body);
  application.terminateUser(route.name);
  return emptyAnswer();
}

/** Answers when the body has arrived. */
function withBody(
  request: Request,
  report: Report,
  answer: (body: string) => Response | Promise<Response>,
): Promise<Response> {
  // Most answers are there at once; another promise to catch their errors would cost as much as the signature.
  return request.text().then(
    (body) => {
      try {
        if (body.length > MAX_BODY_BYTES) throw new HttpError(413, BODY_TOO_LARGE);
        const answered = answer(body);
        return answered instanceof Promise
          ? answered.catch((error: unknown) => errorAnswer(error, report))
          : answered;
      } catch (error) {
        return errorAnswer(error, report);
      }
    },
    () => refusalAnswer(new HttpError(400, "The body did not arrive")),
  );
}

function errorAnswer(error: unknown, report: Report): Response {
  if (error instanceof HttpError) return refusalAnswer(error);
  report(error);
  return failureAnswer();
}
