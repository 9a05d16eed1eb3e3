// The routes of the host's socket to builds, releases and environments.
import { buildLogQuerySchema } from "../../contracts/builds.ts";
import {
  environmentLogQuerySchema,
  type EnvironmentLogQuery,
  type EnvironmentLogSlice,
} from "../../contracts/environment-logs.ts";
import { readAs } from "../../contracts/read.ts";
import { hostPath } from "../../contracts/versions.ts";
import type { HostBuilds } from "./host-builds.ts";

/** The logs of environments, as these routes need them. */
interface Logs {
  read(environment: string, query: EnvironmentLogQuery, signal: AbortSignal): Promise<EnvironmentLogSlice>;
  remove(environment: string): void;
}

/** Builds, and the releases and environments that they are for. */
export function buildRoutes(builds: HostBuilds, logs: Logs) {
  return {
    [hostPath("/builds")]: {
      POST: async (request: Request) => Response.json(await builds.order(request.body)),
    },
    [hostPath("/builds/:id")]: {
      GET: (request: Bun.BunRequest<"/:id">) => Response.json(builds.observe(request.params.id)),
      DELETE: async (request: Bun.BunRequest<"/:id">) => {
        await builds.remove(request.params.id);
        return gone();
      },
    },
    [hostPath("/builds/:id/log")]: {
      POST: async (request: Bun.BunRequest<"/:id">) => {
        const query = readAs(buildLogQuerySchema, await request.json(), "The query of the log");
        return Response.json(await builds.log(request.params.id, query, request.signal));
      },
    },
    [hostPath("/builds/:id/cancel")]: {
      POST: async (request: Bun.BunRequest<"/:id">) => Response.json(await builds.cancel(request.params.id)),
    },
    [hostPath("/releases/:id")]: {
      GET: (request: Bun.BunRequest<"/:id">) => Response.json(builds.release(request.params.id)),
      DELETE: async (request: Bun.BunRequest<"/:id">) => {
        await builds.removeRelease(request.params.id);
        return gone();
      },
    },
    [hostPath("/environments/:id")]: {
      DELETE: async (request: Bun.BunRequest<"/:id">) => {
        await builds.removeEnvironment(request.params.id);
        logs.remove(request.params.id);
        return gone();
      },
    },
    [hostPath("/environments/:id/logs")]: {
      POST: async (request: Bun.BunRequest<"/:id">) => {
        const query = readAs(environmentLogQuerySchema, await request.json(), "The query of the log");
        return Response.json(await logs.read(request.params.id, query, request.signal));
      },
    },
  };
}

function gone(): Response {
  return new Response(null, { status: 204 });
}
