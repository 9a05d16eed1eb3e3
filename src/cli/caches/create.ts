// `pilvi caches create`.
import type { Command } from "commander";
import type { NewCache } from "../../sdk/index.ts";
import { withJson, withWait, wholeNumber, type WaitOptions } from "../options.ts";
import { type Session, withExamples } from "../session.ts";
import { finishCreate } from "../shared/create.ts";
import { cacheKind } from "./kind.ts";

interface CreateOptions extends WaitOptions {
  type: string;
  size?: string;
  region: string;
  evictionPolicy?: string;
  public?: true;
  hibernate?: true;
  hibernationTimeout?: number;
  autoUpgrade?: true;
  json?: true;
}

/** The smallest size of each type, for a command without a size. */
const defaultSizes: Record<NewCache["type"], NewCache["size"]> = {
  platform_valkey: "valkey-flex-250mb",
  hosted_redis: "250mb",
  provider_managed_valkey: "managed.cache.t4g.micro",
  provider_managed_redis: "managed.cache.t4g.micro",
};

/** Adds the command. */
export function addCreate(caches: Command, session: Session): void {
  const command = caches
    .command("create")
    .description("create a cache")
    .argument("<name>", "2 to 40 lowercase letters, digits, underscores and hyphens; need not be unique")
    .option("--type <type>", "what to order; `pilvi caches types` lists all", "platform_valkey")
    .option("--size <size>", "how much memory it has (default: the smallest of the type)")
    .option("--region <region>", "a label; one machine serves all regions", "us-east-1")
    .option("--eviction-policy <policy>", "which keys go when the memory is full; Valkey types only")
    .option("--public", "let other machines reach it")
    .option("--hibernate", "let it sleep when nobody uses it")
    .option("--hibernation-timeout <minutes>", "after how long without use it sleeps", wholeNumber)
    .option("--auto-upgrade", "let it take the next size when it is full (no effect yet)");
  withWait(withJson(command), "it can be used").action(async (name: string, options: CreateOptions) => {
    const client = await session.client();
    const created = await client.caches.create(bodyOf(name, options));
    await finishCreate(session, cacheKind, client, created, options);
  });
  withExamples(command, [
    "pilvi caches create sessions --wait",
    "pilvi caches create queue --type hosted_redis --size 1gb --region eu-central-1",
    "pilvi caches create sessions --wait --json | jq -r .data.id",
  ]);
}

function bodyOf(name: string, options: CreateOptions): NewCache {
  const sizes: Record<string, string> = defaultSizes;
  const body = {
    name,
    type: options.type,
    size: options.size ?? sizes[options.type] ?? defaultSizes.platform_valkey,
    region: options.region,
    eviction_policy: options.evictionPolicy,
    is_public: options.public,
    uses_hibernation: options.hibernate,
    hibernation_timeout: options.hibernationTimeout,
    auto_upgrade_enabled: options.autoUpgrade,
  };
  // The server checks field by field; a second list of allowed values here would only get out of date.
  return body as NewCache;
}
