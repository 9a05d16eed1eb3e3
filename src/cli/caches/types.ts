// How the types of caches look to people.
import type { CacheTypeList } from "../../sdk/index.ts";
import { regionsText, type TypesCommand } from "../shared/types.ts";
import { table } from "../table.ts";

export const cacheTypes: TypesCommand<CacheTypeList> = {
  description: "list the types of caches with their sizes",
  examples: ["pilvi caches types", "pilvi caches types --json | jq -r '.data[].type'"],
  read: (client) => client.caches.types(),
  text({ data }) {
    const blocks = data.map(({ type, label, sizes }) => {
      const rows = sizes.map((size) => [`  ${size.value}`, size.label]);
      return `${type} (${label})\n${table(rows)}`;
    });
    return `${blocks.join("\n")}\n${regionsText(data)}`;
  },
};
