// The part of the local driver that asks the host about the routes of the edge.
import * as z from "zod/mini";
import { edgeAnswerSchema } from "../../contracts/edge-probe.ts";
import { edgeRouteSchema } from "../../contracts/edge-route.ts";
import type { Driver } from "../driver.ts";
import { bounded } from "./bounded.ts";
import type { HostConnection } from "./host-connection.ts";

const routesSchema = z.array(edgeRouteSchema);

/** The part of the driver that changes routes. */
export function edgeRoutes({
  ask,
  askFor,
}: HostConnection): Pick<Driver, "ensureRoute" | "removeRoute" | "wakeRoute" | "routes" | "probeEdge"> {
  return {
    ensureRoute: async (route) => void (await ask("PUT", `/routes/${route.id}`, bounded(route))),
    removeRoute: async (id) => void (await ask("DELETE", `/routes/${id}`, bounded())),
    wakeRoute: async (id, wake) => void (await ask("POST", `/routes/${id}/wake`, bounded(wake))),
    probeEdge: (query, signal) =>
      askFor(edgeAnswerSchema, "POST", "/edge/probe", {
        body: JSON.stringify(query),
        signal: signal ?? null,
      }),
    routes: () => askFor(routesSchema, "GET", "/routes"),
  };
}
