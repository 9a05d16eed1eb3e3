// `pilvi caches list`.
import type { Command } from "commander";
import type { CacheFilter, CachePage, CacheResource } from "../../sdk/index.ts";
import { withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { table } from "../table.ts";
import { addressOf } from "./text.ts";

interface ListOptions extends CacheFilter {
  json?: true;
}

/** Adds the command. */
export function addList(caches: Command, session: Session): void {
  const command = caches
    .command("list")
    .description("list caches")
    .option("--type <type>", "only those of this type; several with commas between them")
    .option("--status <status>", "only those with this status")
    .option("--region <region>", "only those in this region");
  withJson(command).action(async ({ json, ...filter }: ListOptions) => {
    const client = await session.client();
    const pages = await Array.fromAsync(client.caches.pages({ filter }));
    if (json === true) session.io.out(jsonText(joined(pages)));
    else
      session.io.out(
        listText(
          pages.flatMap(({ data }) => data),
          Object.keys(filter).length > 0,
        ),
      );
  });
  withExamples(command, [
    "pilvi caches list",
    "pilvi caches list --type platform_valkey --status available",
    "pilvi caches list --json | jq -r '.data[].id'",
  ]);
}

/**
 * One document for a program. A single page is printed as the API answered it; of several only the resources are, as
 * links and page numbers would contradict them.
 */
function joined(pages: CachePage[]): unknown {
  return pages.length === 1 ? pages[0] : { data: pages.flatMap(({ data }) => data) };
}

function listText(caches: CacheResource[], isFiltered: boolean): string {
  if (caches.length === 0 && isFiltered) return "No cache is like that.\n";
  if (caches.length === 0)
    return "There are no caches yet. Create one with: pilvi caches create NAME --wait\n";
  const rows = caches.map((cache) => {
    const { name, status, type, size, region } = cache.attributes;
    return [name, status, type, size, region, addressOf(cache), cache.id];
  });
  return table([["NAME", "STATUS", "TYPE", "SIZE", "REGION", "ADDRESS", "ID"], ...rows]);
}
