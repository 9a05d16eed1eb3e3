// A repository behind HTTP, for tests with git's own client.
import { type GitHttpOptions, serveGit } from "./git-http.ts";
import type { Repository } from "./repository.ts";

/** A server at a free port. */
export interface GitServer extends AsyncDisposable {
  url: string;
  /** The host and the port. */
  server: string;
  /** What requests had for authentication, in the order of their coming. */
  seen: (string | null)[];
}

/** The server's answer in place of the repository's; null for the repository's own. */
type Answer = (request: Request) => Response | null;

/** Demands a user name and a password as most hosts of repositories do. */
export function demanding(username: string, password: string): Answer {
  const wanted = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  return (request) => {
    if (request.headers.get("authorization") === wanted) return null;
    return new Response("Who are you?", {
      status: 401,
      headers: { "www-authenticate": 'Basic realm="git"' },
    });
  };
}

/** A server of one repository at a free port. */
export function serveRepository(
  repository: Repository,
  { answer, ...options }: Partial<GitHttpOptions> & { answer?: Answer } = {},
): GitServer {
  const seen: (string | null)[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    fetch: (request) => {
      seen.push(request.headers.get("authorization"));
      const own = answer?.(request) ?? null;
      if (own !== null) return own;
      const path = new URL(request.url).pathname.replace(/^\/app\.git/, "");
      return serveGit(repository, request, path, {
        user: "ada",
        mayPush: true,
        onPush: () => Promise.resolve(nothing()),
        ...options,
      });
    },
  });
  return {
    seen,
    server: `127.0.0.1:${server.port}`,
    url: `http://127.0.0.1:${server.port}/app.git`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

// oxlint-disable-next-line require-yield -- most tests have nothing to say to the person that pushes
async function* nothing(): AsyncGenerator<string> {
  await Promise.resolve();
}
