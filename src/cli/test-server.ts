// For tests of commands: servers with an answer for each request, which record their requests.
import { endingOf, type Ending } from "./failure.ts";

/** Makes a new answer each time, as the body of an answer can be read only once. */
export type Answer = () => Response;

/** The requests to all servers since they were last closed, such as `GET /caches`. */
export const requests: string[] = [];

/** The bodies of these requests, in their order, without the empty ones and without uploads. */
export const bodies: unknown[] = [];

const servers: { stop(force: boolean): Promise<void> }[] = [];

/** A server with an answer for each request, such as `GET /caches`; of several answers the last one stays. */
export function serve(routes: Record<string, Answer | Answer[]>): string {
  return serveWith(async (request) => {
    const { pathname } = new URL(request.url);
    const key = `${request.method} ${pathname.replace(/^\/api/, "")}`;
    requests.push(key);
    const text = await request.text();
    const isJson = request.headers.get("Content-Type") === "application/json";
    if (isJson && text !== "") bodies.push(JSON.parse(text));
    const seen = requests.filter((earlier) => earlier === key).length;
    const answer = [routes[key] ?? notFound].flat().slice(0, seen).at(-1);
    return answer?.() ?? Response.error();
  });
}

/** A server with a handler of the test. */
export function serveWith(fetch: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ port: 0, fetch });
  servers.push(server);
  return `http://127.0.0.1:${server.port}`;
}

/** Call it after each test. */
export async function closeServers(): Promise<void> {
  requests.length = 0;
  bodies.length = 0;
  for (const server of servers.splice(0)) await server.stop(true);
}

export function notFound(): Response {
  return Response.json({ message: "There is no such thing." }, { status: 404 });
}

/** The answer of a proxy while Pilvi is away. */
export function badGateway(): Response {
  return new Response("<html>", { status: 502 });
}

/** The answer to a token that does not hold any more. */
export function refused(): Response {
  return Response.json({ message: "It was revoked." }, { status: 401 });
}

export function noContent(): Response {
  return new Response(null, { status: 204 });
}

/** An answer with one resource, and with its related resources. */
export function one(resource: unknown, status = 200, included?: unknown[]): Answer {
  return () => Response.json({ data: resource, included }, { status });
}

/** An answer with a list that fits on one page. */
export function list(...resources: unknown[]): Answer {
  return () => Response.json({ data: resources, links: {}, meta: { total: resources.length } });
}

/** The end of a command that fails; undefined when it does not fail, or fails in a way that is not foreseen. */
export async function failureOf(command: Promise<unknown>): Promise<Ending | undefined> {
  return endingOf(
    await command.then(
      () => undefined,
      (error: unknown) => error,
    ),
  );
}
