// The policy of the edge for an environment, from its settings.
import type { EdgePolicy } from "../../../contracts/edge-route.ts";
import { sha256Hex } from "../../../lib/secrets.ts";
import { purgesOnDeploy } from "./edge-cache.ts";
import type { EnvironmentSettings } from "./settings.ts";

/** The limit of a level without a number. */
const DEFAULT_REQUESTS_PER_MINUTE = 300;

/** Hexadecimal digits of a version of the cache: no two versions of an environment are alike. */
const VERSION_LENGTH = 16;

/** @param instances the ids of all instances of the environment's route; each deployment has others. */
export function policyOf(settings: EnvironmentSettings, instances: readonly string[]): EdgePolicy {
  return {
    frame: settings.response_headers_frame,
    isNosniff: settings.response_headers_content_type === "nosniff",
    isUnlisted: settings.response_headers_robots_tag === "noindex, nofollow",
    hsts: hstsOf(settings.response_headers_hsts),
    cacheVersion: cacheVersionOf(settings, instances),
    rateLimit: rateLimitOf(settings),
    refusedBots: [...new Set(settings.firewall_bot_categories)],
    refusesScans: settings.firewall_block_path,
    isUnderAttack: (settings.under_attack_mode_started_at ?? null) !== null,
  };
}

/** Each purge has another version and, where deployments purge, each deployment. */
function cacheVersionOf(settings: EnvironmentSettings, instances: readonly string[]): string | null {
  const { cache_strategy, edge_cache_purge = "" } = settings;
  if (cache_strategy === "bypass") return null;
  const parts = [edge_cache_purge, ...(purgesOnDeploy(settings) ? instances.toSorted() : [])];
  return sha256Hex(JSON.stringify(parts)).slice(0, VERSION_LENGTH);
}

function hstsOf(hsts: EnvironmentSettings["response_headers_hsts"]): EdgePolicy["hsts"] {
  if (hsts.max_age === null) return null;
  return {
    maxAgeSeconds: hsts.max_age,
    includesSubdomains: hsts.include_subdomains,
    isPreloaded: hsts.preload,
  };
}

function rateLimitOf(settings: EnvironmentSettings): EdgePolicy["rateLimit"] {
  const { firewall_rate_limit_level: level, firewall_rate_limit_per_minute: limit } = settings;
  return level === null ? null : { level, requestsPerMinute: limit ?? DEFAULT_REQUESTS_PER_MINUTE };
}
