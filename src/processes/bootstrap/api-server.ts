// The socket of the API: serves the application, with bounds on the connections that clients may have.
import type { App } from "../../api/app.ts";
import type { Config } from "../../config.ts";
import type { Certificate } from "../../engines/engine.ts";
import { openFileLimit, raiseOpenFileLimit } from "../../lib/open-files.ts";
import { ServerConnections } from "../../lib/server-connections.ts";
import { portRefusal } from "./port-refusal.ts";

/** Long enough for held answers, which `?wait=` makes last up to 60 s. */
const IDLE_TIMEOUT_SECONDS = 120;
/** Connections of clients, and which share of all descriptors they are at most: the rest is for the store and the host. */
const MAX_CONNECTIONS = 16_384;
const CONNECTIONS_SHARE = 1 / 2;
/** Of them those without a valid token. */
const UNPROVED_SHARE = 3 / 4;
const OPEN_FILES = 65_536;

export interface ApiServer {
  /** Stops accepting. @param isHard whether what is under way ends too. */
  stop(isHard?: boolean): Promise<void>;
}

/** Has this process take as many connections as it may; needs the rights that `becomeUser` gives up. */
export function prepareApiServer(): void {
  raiseOpenFileLimit(OPEN_FILES);
}

/** @throws Refusal when the port cannot be had. */
export function serveApi(config: Config, certificate: Certificate | null, app: App): ApiServer {
  const all = Math.min(MAX_CONNECTIONS, Math.floor(openFileLimit() * CONNECTIONS_SHARE));
  const connections = new ServerConnections(config.port, {
    all,
    unproved: Math.floor(all * UNPROVED_SHARE),
  });
  const server = listen(config, certificate, app, connections);
  connections.start();
  return {
    stop: async (isHard = false) => {
      if (isHard) connections.stop();
      await server.stop(isHard);
    },
  };
}

function listen(
  config: Config,
  certificate: Certificate | null,
  app: App,
  connections: ServerConnections,
): Bun.Server<undefined> {
  try {
    return Bun.serve({
      hostname: config.host,
      port: config.port,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
      fetch: async (request, server) => {
        const call = connections.begin(server.requestIP(request));
        try {
          return await app.fetch(request, call);
        } finally {
          call.end();
        }
      },
      // Bun's own answer to what is thrown beyond the application shows code.
      development: false,
      error: () => Response.json({ message: "Something went wrong here." }, { status: 500 }),
      ...(certificate === null ? {} : { tls: certificate }),
    });
  } catch (error) {
    throw portRefusal(config, error);
  }
}
