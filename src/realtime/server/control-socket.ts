// The unix socket on which the host sends the server its configuration and asks for its state.
import { chmodSync, rmSync } from "node:fs";
import { readAs } from "../../contracts/read.ts";
import { clusterConfigSchema, type ClusterConfig, type RealtimeStats } from "../../contracts/realtime.ts";
import { realtimePath, refuseOtherVersions } from "../../contracts/versions.ts";
import { publicMessageOf } from "../../lib/errors.ts";
import { socketAddress } from "../../lib/unix-socket.ts";
import type { Log } from "../../lib/line-log.ts";

/** The orders and questions that the server takes. */
export interface Controlled {
  /** @throws PublicError when the order fails. */
  configure(config: ClusterConfig): void;
  /** The counters of this moment. */
  stats(): RealtimeStats;
  /**
   * Reports what happens in an application, one JSON object a line, until the signal is aborted.
   * @throws PublicError when there is no such application, or it is watched too often.
   */
  debug(id: string, signal: AbortSignal): ReadableStream<Uint8Array>;
}

/** A watched application may be silent. Bun applies this to unix sockets, although its types omit it. */
const NO_IDLE_TIMEOUT: object = { idleTimeout: 0 };

/** Begins to serve. @returns a function that ends it. */
export function serveControl(controlled: Controlled, path: string, log: Log): () => Promise<void> {
  rmSync(path, { force: true });
  const server = Bun.serve({
    unix: socketAddress(path),
    ...NO_IDLE_TIMEOUT,
    routes: {
      [realtimePath("/health")]: { GET: () => new Response("ok") },
      [realtimePath("/config")]: {
        PUT: async (request) => {
          controlled.configure(readAs(clusterConfigSchema, await request.json(), "The configuration"));
          return new Response(null, { status: 204 });
        },
      },
      [realtimePath("/stats")]: { GET: () => Response.json(controlled.stats()) },
      [realtimePath("/debug")]: {
        GET: (request) => {
          const id = new URL(request.url).searchParams.get("id") ?? "";
          return new Response(controlled.debug(id, request.signal));
        },
      },
    },
    fetch: refuseOtherVersions("The realtime server", (message) =>
      log.error({ message }, "an order was refused"),
    ),
    error: (error) => {
      log.error({ error }, "an order could not be carried out");
      const message = publicMessageOf(error, "The realtime server failed; its log says why.");
      return Response.json({ message }, { status: 500 });
    },
  });
  // A program that may write here decides which clients are let in.
  chmodSync(path, 0o600);
  return () => server.stop(true);
}
