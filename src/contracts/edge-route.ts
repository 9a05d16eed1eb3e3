// Routes of the edge: which names lead to which instance.
import * as z from "zod/mini";
import { safeIdSchema } from "./instance-spec.ts";

/** The most names of one route. */
export const MAX_NAMES_OF_ROUTE = 200;

/** The longest time that an application may take to answer, in seconds. */
export const MAX_ROUTE_TIMEOUT_SECONDS = 3_600;

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";

/** A name as a request's `Host` has it, in lower case, without a port; internationalised names in their ASCII form. */
export const edgeNameSchema = z
  .string()
  .check(z.maxLength(253), z.regex(new RegExp(`^${label}(?:\\.${label})*$`)));

export const edgeRouteSchema = z.strictObject({
  /** The id of what the names belong to, such as an environment. */
  id: safeIdSchema,
  /** A name that another route has moves to this route. */
  names: z.array(edgeNameSchema).check(z.maxLength(MAX_NAMES_OF_ROUTE)),
  /** The instance that answers, which has a port; null while no instance does. */
  instance: z.nullable(safeIdSchema),
  settings: z.strictObject({
    /** How long the instance may take until it answers, and may then be silent. */
    timeoutSeconds: z.int().check(z.minimum(1), z.maximum(MAX_ROUTE_TIMEOUT_SECONDS)),
  }),
});

/** A route of the edge. */
export type EdgeRoute = z.infer<typeof edgeRouteSchema>;

/** The format of the files that the host keeps routes in. */
export const EDGE_ROUTE_FORMAT = 1;

export const keptRouteSchema = z.strictObject({
  format: z.literal(EDGE_ROUTE_FORMAT),
  /** Rises with every route that is kept. A name of two routes belongs to the route with the higher one. */
  sequence: z.int().check(z.positive()),
  route: edgeRouteSchema,
});

/** A route as its file has it. */
export type KeptRoute = z.infer<typeof keptRouteSchema>;
