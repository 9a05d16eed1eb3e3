// The policy of the edge for an environment, from its settings.
import type { EdgePolicy } from "../../../contracts/edge-route.ts";
import type { EnvironmentSettings } from "./settings.ts";

/** The limit of a level without a number. */
const DEFAULT_REQUESTS_PER_MINUTE = 300;

export function policyOf(settings: EnvironmentSettings): EdgePolicy {
  return {
    frame: settings.response_headers_frame,
    isNosniff: settings.response_headers_content_type === "nosniff",
    isUnlisted: settings.response_headers_robots_tag === "noindex, nofollow",
    hsts: hstsOf(settings.response_headers_hsts),
    rateLimit: rateLimitOf(settings),
    refusedBots: [...new Set(settings.firewall_bot_categories)],
    refusesScans: settings.firewall_block_path,
    isUnderAttack: (settings.under_attack_mode_started_at ?? null) !== null,
  };
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
