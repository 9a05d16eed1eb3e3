// `pilvi caches update`.
import type { Command } from "commander";
import type { CacheChange } from "../../sdk/index.ts";
import { nameArgument, withJson, withWait, wholeNumber, type WaitOptions } from "../options.ts";
import { type Session, withExamples } from "../session.ts";
import { find } from "../shared/find.ts";
import { finishUpdate, requireChange } from "../shared/update.ts";
import { cacheKind } from "./kind.ts";

interface UpdateOptions extends WaitOptions {
  name?: string;
  size?: string;
  evictionPolicy?: string;
  public?: boolean;
  hibernate?: boolean;
  hibernationTimeout?: number;
  autoUpgrade?: boolean;
  json?: true;
}

/** Adds the command. */
export function addUpdate(caches: Command, session: Session): void {
  const command = caches
    .command("update")
    .description(
      "change a cache; another size or eviction policy starts its engine anew, and --public does if it does not hibernate",
    )
    .argument("<name-or-id>", nameArgument(cacheKind.noun))
    .option("--name <name>", "2 to 40 lowercase letters, digits, underscores and hyphens; need not be unique")
    .option("--size <size>", "how much memory it has; `pilvi caches types` lists all")
    .option("--eviction-policy <policy>", "which keys go when the memory is full; Valkey types only")
    .option("--public", "let other machines reach it")
    .option("--no-public", "let only this machine reach it")
    .option("--hibernate", "let it sleep when nobody uses it")
    .option("--no-hibernate", "keep it awake")
    .option("--hibernation-timeout <minutes>", "after how long without use it sleeps", wholeNumber)
    .option("--auto-upgrade", "let it take the next size when it is full (no effect yet)")
    .option("--no-auto-upgrade", "keep its size");
  withWait(withJson(command), "the change is in force").action(
    async (nameOrId: string, options: UpdateOptions) => {
      const change = changeOf(options);
      requireChange(command, change);
      const client = await session.client();
      const { data } = await find(cacheKind, client, nameOrId);
      // As with a create, the server checks the values.
      await client.caches.update(data.id, change as CacheChange);
      await finishUpdate(session, cacheKind, client, data.id, options);
    },
  );
  withExamples(command, [
    "pilvi caches update sessions --size valkey-flex-1gb --wait",
    "pilvi caches update sessions --hibernate --hibernation-timeout 10",
    "pilvi caches update sessions --name carts --no-public",
  ]);
}

function changeOf(options: UpdateOptions) {
  return {
    name: options.name,
    size: options.size,
    eviction_policy: options.evictionPolicy,
    is_public: options.public,
    uses_hibernation: options.hibernate,
    hibernation_timeout: options.hibernationTimeout,
    auto_upgrade_enabled: options.autoUpgrade,
  };
}
