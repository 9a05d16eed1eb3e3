// Routes of the edge: which names lead to which instances.
import * as z from "zod/mini";
import { safeIdSchema } from "./instance-spec.ts";

/** The most names of one route. */
export const MAX_NAMES_OF_ROUTE = 200;

/** The most instances of one route. */
export const MAX_INSTANCES_OF_ROUTE = 100;

/** The longest time that an application may take to answer, in seconds. */
export const MAX_ROUTE_TIMEOUT_SECONDS = 3_600;

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";

/** A name as a request's `Host` has it, in lower case, without a port; internationalised names in their ASCII form. */
export const edgeNameSchema = z
  .string()
  .check(z.maxLength(253), z.regex(new RegExp(`^${label}(?:\\.${label})*$`)));

const common = {
  /** The id of what the names belong to, such as an environment. */
  id: safeIdSchema,
  /** A name that another route has moves to this route. */
  names: z.array(edgeNameSchema).check(z.maxLength(MAX_NAMES_OF_ROUTE)),
  settings: z.strictObject({
    /** How long the instance may take until it answers, and may then be silent. */
    timeoutSeconds: z.int().check(z.minimum(1), z.maximum(MAX_ROUTE_TIMEOUT_SECONDS)),
  }),
};

export const edgeRouteSchema = z.strictObject({
  ...common,
  /**
   * The instances with a port answer, in turn. Those without a port answer nothing, but sleep and wake with the others.
   * Empty while nothing answers.
   */
  instances: z.array(safeIdSchema).check(z.maxLength(MAX_INSTANCES_OF_ROUTE)),
});

/** A route of the edge. */
export type EdgeRoute = z.infer<typeof edgeRouteSchema>;

/** The format of the files that the host keeps routes in. */
export const EDGE_ROUTE_FORMAT = 2;

/** Rises with every route that is kept. A name of two routes belongs to the route with the higher one. */
const sequence = z.int().check(z.positive());

const keptRouteSchema = z.strictObject({
  format: z.literal(EDGE_ROUTE_FORMAT),
  sequence,
  route: edgeRouteSchema,
});

/** Routes of the first format had one instance, or null. */
const firstKeptRouteSchema = z.strictObject({
  format: z.literal(1),
  sequence,
  route: z.strictObject({ ...common, instance: z.nullable(safeIdSchema) }),
});

export const anyKeptRouteSchema = z.union([keptRouteSchema, firstKeptRouteSchema]);

/** A route as its file has it. */
export type KeptRoute = z.infer<typeof keptRouteSchema>;

/** A kept route in today's format. */
export function inTodaysFormat(kept: z.infer<typeof anyKeptRouteSchema>): KeptRoute {
  if (kept.format !== 1) return kept;
  const { instance, ...route } = kept.route;
  return {
    ...kept,
    format: EDGE_ROUTE_FORMAT,
    route: { ...route, instances: instance === null ? [] : [instance] },
  };
}
