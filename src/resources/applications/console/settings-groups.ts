// The settings of an environment in groups, what each holds now, and the change that a form asks for.
import type { Field, Value, Values } from "../../../console/parts/form-fields.ts";
import type { EnvironmentResource } from "../../../sdk/index.ts";

/** Settings that belong together, by the beginnings of their names. */
interface SettingsGroup {
  title: string;
  note?: string;
  names: readonly string[];
}

export const GROUPS: readonly SettingsGroup[] = [
  { title: "General", names: ["name", "slug", "branch", "color"] },
  {
    title: "Build and start",
    note: "In force at the next deployment. Where a field is empty, Pilvi finds out by itself.",
    names: [
      "build_command",
      "deploy_command",
      "start_command",
      "health_path",
      "serving_mode",
      "serving_root",
      "serving_fallback",
      "node_version",
      "php_version",
      "uses_server_accelerator",
    ],
  },
  { title: "Deployments", names: ["uses_push_to_deploy", "uses_deploy_hook"] },
  { title: "Sleep", names: ["uses_hibernation", "sleep_timeout", "hibernation_wake_up_interval"] },
  { title: "Time limits", names: ["timeout", "shutdown_timeout"] },
  {
    title: "Address and answers",
    names: ["uses_vanity_domain", "cache_strategy", "uses_purge_edge_cache_on_deploy", "response_headers"],
  },
  { title: "Firewall", names: ["firewall"] },
];

/** Labels that say more than the names in the API. */
export const LABELS: Record<string, string> = {
  node_version: "Node.js version",
  php_version: "PHP version",
  health_path: "Health check",
  serving_mode: "Way of serving",
  serving_root: "Public folder",
  serving_fallback: "Paths without a file",
  uses_server_accelerator: "PHP server accelerator",
  uses_push_to_deploy: "Deploy at a push",
  uses_deploy_hook: "Deploy hook",
  uses_hibernation: "Sleep when nobody uses it",
  sleep_timeout: "Sleep after",
  hibernation_wake_up_interval: "Wake by itself after",
  timeout: "Time of a request",
  shutdown_timeout: "Time to end",
  uses_vanity_domain: "Address below the domain of applications",
  uses_purge_edge_cache_on_deploy: "Purge the edge cache at each deployment",
  response_headers_frame: "Frames on other pages",
  response_headers_content_type: "Guessing of content types",
  response_headers_robots_tag: "Search engines",
  "response_headers_hsts.max_age": "HTTPS only: max age",
  "response_headers_hsts.include_subdomains": "HTTPS only: subdomains too",
  "response_headers_hsts.preload": "HTTPS only: browsers may list it",
  firewall_rate_limit_level: "Rate limit",
  firewall_rate_limit_per_minute: "Requests a minute",
  firewall_block_path: "Refuse the paths of scanners",
  firewall_under_attack_mode: "Under attack: challenge every client",
};

/** Commands may have several lines. */
export function isCommand({ name }: Field): boolean {
  return name.endsWith("_command");
}

/** The fields of a group, in its order. */
export function fieldsIn({ names }: SettingsGroup, fields: readonly Field[]): Field[] {
  return names.flatMap((each) => fields.filter(({ name }) => name === each || startsWithPart(name, each)));
}

function startsWithPart(name: string, part: string): boolean {
  return name.startsWith(`${part}_`) || name.startsWith(`${part}.`);
}

/** What the settings are now, by the names of their fields. Undefined for what the answer does not have. */
export function presentSettings({ attributes, relationships, meta }: EnvironmentResource) {
  const { cache, firewall, response_headers: headers } = attributes.network_settings;
  const settings: Record<string, unknown> = {
    ...attributes,
    ...meta,
    branch: relationships.branch.data?.id ?? null,
    php_version: attributes.php_major_version,
    cache_strategy: cache.strategy,
    response_headers_frame: headers.frame,
    response_headers_content_type: headers.content_type,
    response_headers_robots_tag: headers.robots_tag,
    firewall_rate_limit_level: firewall.rate_limit.level,
    firewall_rate_limit_per_minute: firewall.rate_limit.per_minute,
    firewall_block_path: firewall.block_path,
    firewall_under_attack_mode: firewall.under_attack_mode_started_at !== null,
  };
  for (const [name, value] of Object.entries(headers.hsts)) settings[`response_headers_hsts.${name}`] = value;
  return settings;
}

/** The body of the request. Null takes a value away, and the members of an object are sent together. */
export function changeOf(given: Values, present: Record<string, unknown>): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const [name, value] of Object.entries<Value>(given)) {
    const [first = name, member] = name.split(".");
    if (member === undefined) body[first] = value ?? null;
    else body[first] = { ...membersOf(first, present), ...(body[first] as object), [member]: value ?? null };
  }
  return body;
}

function membersOf(name: string, present: Record<string, unknown>): Record<string, unknown> {
  const members = Object.entries(present).filter(([each]) => each.startsWith(`${name}.`));
  return Object.fromEntries(members.map(([each, value]) => [each.slice(name.length + 1), value]));
}
