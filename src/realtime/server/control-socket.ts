// The unix socket on which the host tells the server its configuration and asks how it is.
import { chmodSync, rmSync } from "node:fs";
import { readAs } from "../../contracts/read.ts";
import { clusterConfigSchema, type ClusterConfig } from "../../contracts/realtime.ts";
import { publicMessageOf } from "../../lib/errors.ts";
import { socketAddress } from "../../lib/unix-socket.ts";
import type { Log } from "../../lib/line-log.ts";

/** What can be asked of the server. */
export interface Controlled {
  /** @throws PublicError when it cannot be done. */
  configure(config: ClusterConfig): void;
  /** The series of a cluster or application over the last so many seconds. */
  series(id: string, periodSeconds: number): unknown;
  /** What is counted at the moment. */
  stats(): unknown;
}

/** Begins to serve; the returned function ends it. */
export function serveControl(controlled: Controlled, path: string, log: Log): () => Promise<void> {
  rmSync(path, { force: true });
  const server = Bun.serve({
    unix: socketAddress(path),
    routes: {
      "/health": { GET: () => new Response("ok") },
      "/config": {
        PUT: async (request) => {
          controlled.configure(readAs(clusterConfigSchema, await request.json(), "The configuration"));
          return new Response(null, { status: 204 });
        },
      },
      "/metrics": {
        GET: (request) => {
          const { searchParams: query } = new URL(request.url);
          return Response.json(controlled.series(query.get("id") ?? "", Number(query.get("period"))));
        },
      },
      "/stats": { GET: () => Response.json(controlled.stats()) },
    },
    fetch: () => Response.json({ message: "There is nothing here." }, { status: 404 }),
    error: (error) => {
      log.error({ error }, "an order could not be carried out");
      const message = publicMessageOf(error, "The realtime server failed; its log says why.");
      return Response.json({ message }, { status: 500 });
    },
  });
  // Whoever may write here changes who is let in.
  chmodSync(path, 0o600);
  return () => server.stop(true);
}
