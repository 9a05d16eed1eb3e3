// The routes of the host's socket to builds, releases and environments.
import { buildLogQuerySchema } from "../../contracts/builds.ts";
import { readAs } from "../../contracts/read.ts";
import { hostPath } from "../../contracts/versions.ts";
import type { HostBuilds } from "./host-builds.ts";

/** Builds, and the releases and environments that they are for. */
export function buildRoutes(builds: HostBuilds) {
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
        return gone();
      },
    },
  };
}

function gone(): Response {
  return new Response(null, { status: 204 });
}
