// Routes of the edge: which names lead to which instances.
import * as z from "zod/mini";
import { safeIdSchema } from "./safe-id.ts";

/** The most names of one route. */
const MAX_NAMES_OF_ROUTE = 200;

/** The most instances of one route. */
const MAX_INSTANCES_OF_ROUTE = 100;

/** The longest time that an application may take to answer, in seconds. */
const MAX_ROUTE_TIMEOUT_SECONDS = 3_600;

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";

/** A name as a request's `Host` has it, in lower case, without a port; internationalised names in their ASCII form. */
export const edgeNameSchema = z
  .string()
  .check(z.maxLength(253), z.regex(new RegExp(`^${label}(?:\\.${label})*$`)));

/** Seconds for which browsers may be asked to use HTTPS alone: two years. */
export const MAX_HSTS_SECONDS = 63_072_000;

/** Kinds of bots that the edge distinguishes by what they call themselves. */
export const botCategories = [
  "academic_research",
  "accessibility",
  "advertising_and_marketing",
  "aggregator",
  "ai_assistant",
  "ai_crawler",
  "ai_search",
  "feed_fetcher",
  "monitoring_and_analytics",
  "page_preview",
  "search_engine_crawler",
  "search_engine_optimization",
  "security",
  "social_media_marketing",
  "webhooks",
  "other",
] as const;

export type BotCategory = (typeof botCategories)[number];

/** What the edge does with a client that sends more requests than it may. */
export const rateLimitLevels = ["challenge", "throttle", "ban"] as const;

/** The requests of a client in a minute that a limit can be at. */
export const rateLimits = [100, 300, 500, 750, 1_000] as const;

const policySchema = z.strictObject({
  /** Which pages may show an answer in a frame. */
  frame: z.enum(["deny", "sameorigin", "all"]),
  /** Whether browsers may not guess the type of an answer. */
  isNosniff: z.boolean(),
  /** Whether search engines may not keep an answer. */
  isUnlisted: z.boolean(),
  /** For how long browsers are to use HTTPS alone; null says nothing. */
  hsts: z.nullable(
    z.strictObject({
      maxAgeSeconds: z.int().check(z.minimum(0), z.maximum(MAX_HSTS_SECONDS)),
      includesSubdomains: z.boolean(),
      isPreloaded: z.boolean(),
    }),
  ),
  /**
   * Marked answers are kept in the cache of the edge. Another version makes all that was kept before unused; null keeps
   * nothing. Routes that were kept before this existed lack it.
   */
  cacheVersion: z._default(z.nullable(z.string().check(z.regex(/^[a-z0-9]{1,16}$/))), null),
  rateLimit: z.nullable(
    z.strictObject({ level: z.enum(rateLimitLevels), requestsPerMinute: z.literal([...rateLimits]) }),
  ),
  /** The bots whose requests are refused. */
  refusedBots: z.array(z.enum(botCategories)).check(z.maxLength(botCategories.length)),
  /** Whether paths that only scanners ask for are refused. */
  refusesScans: z.boolean(),
  /** Whether each client has to pass the challenge first. Routes that were kept before this existed lack it. */
  isUnderAttack: z._default(z.boolean(), false),
});

/** What the edge adds to the answers of a route, and which requests it refuses. */
export type EdgePolicy = z.infer<typeof policySchema>;

/** Answers and requests pass as they are. */
export const NO_POLICY: EdgePolicy = {
  frame: "all",
  isNosniff: false,
  isUnlisted: false,
  hsts: null,
  cacheVersion: null,
  rateLimit: null,
  refusedBots: [],
  refusesScans: false,
  isUnderAttack: false,
};

const timeoutSeconds = z.int().check(z.minimum(1), z.maximum(MAX_ROUTE_TIMEOUT_SECONDS));

const common = {
  /** The id of what the names belong to, such as an environment. */
  id: safeIdSchema,
  /** A name that another route has moves to this route. */
  names: z.array(edgeNameSchema).check(z.maxLength(MAX_NAMES_OF_ROUTE)),
};

/**
 * The instances with a port answer, in turn. Those without a port answer nothing, but sleep and wake with the others.
 * Empty while nothing answers.
 */
const instances = z.array(safeIdSchema).check(z.maxLength(MAX_INSTANCES_OF_ROUTE));

export const edgeRouteSchema = z.strictObject({
  ...common,
  instances,
  settings: z.strictObject({
    /** How long the instance may take until it answers, and may then be silent. */
    timeoutSeconds,
    policy: policySchema,
  }),
});

/** A route of the edge. */
export type EdgeRoute = z.infer<typeof edgeRouteSchema>;

/** The format of the files that the host keeps routes in. */
export const EDGE_ROUTE_FORMAT = 3;

/** Rises with every route that is kept. A name of two routes belongs to the route with the higher one. */
const sequence = z.int().check(z.positive());

const keptRouteSchema = z.strictObject({
  format: z.literal(EDGE_ROUTE_FORMAT),
  sequence,
  route: edgeRouteSchema,
});

/** Routes of former formats had no policy. */
const formerSettings = z.strictObject({ timeoutSeconds });

const secondKeptRouteSchema = z.strictObject({
  format: z.literal(2),
  sequence,
  route: z.strictObject({ ...common, instances, settings: formerSettings }),
});

/** Routes of the first format had one instance, or null. */
const firstKeptRouteSchema = z.strictObject({
  format: z.literal(1),
  sequence,
  route: z.strictObject({ ...common, instance: z.nullable(safeIdSchema), settings: formerSettings }),
});

export const anyKeptRouteSchema = z.union([keptRouteSchema, secondKeptRouteSchema, firstKeptRouteSchema]);

/** A route as its file has it. */
export type KeptRoute = z.infer<typeof keptRouteSchema>;

/** A kept route in today's format. */
export function inTodaysFormat(kept: z.infer<typeof anyKeptRouteSchema>): KeptRoute {
  if (kept.format === EDGE_ROUTE_FORMAT) return kept;
  const { id, names, settings } = kept.route;
  return {
    format: EDGE_ROUTE_FORMAT,
    sequence: kept.sequence,
    route: { id, names, instances: instancesOf(kept), settings: { ...settings, policy: NO_POLICY } },
  };
}

function instancesOf(kept: z.infer<typeof firstKeptRouteSchema | typeof secondKeptRouteSchema>): string[] {
  if (kept.format === 2) return kept.route.instances;
  const { instance } = kept.route;
  return instance === null ? [] : [instance];
}
