// A repository behind HTTP, for tests with git's own client.
import { type GitHttpOptions, serveGit } from "./git-http.ts";
import type { Repository } from "./repository.ts";

/** A server of one repository at a free port. */
export function serveRepository(
  repository: Repository,
  options: Partial<GitHttpOptions> = {},
): { url: string; [Symbol.asyncDispose](): Promise<void> } {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    fetch: (request) => {
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
    url: `http://127.0.0.1:${server.port}/app.git`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

// oxlint-disable-next-line require-yield -- most tests have nothing to say to the person that pushes
async function* nothing(): AsyncGenerator<string> {
  await Promise.resolve();
}
