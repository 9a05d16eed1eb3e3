// `pilvi caches types`.
import type { Command } from "commander";
import type { CacheTypeList } from "../../sdk/index.ts";
import { withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { table } from "../table.ts";

/** Adds the command. */
export function addTypes(caches: Command, session: Session): void {
  const command = caches.command("types").description("list the types of caches with their sizes");
  withJson(command).action(async ({ json }: { json?: true }) => {
    const client = await session.client();
    const types = await client.caches.types();
    session.io.out(json === true ? jsonText(types) : typesText(types));
  });
  withExamples(command, ["pilvi caches types", "pilvi caches types --json | jq -r '.data[].type'"]);
}

function typesText({ data }: CacheTypeList): string {
  const blocks = data.map(({ type, label, sizes }) => {
    const rows = sizes.map((size) => [`  ${size.value}`, size.label]);
    return `${type} (${label})\n${table(rows)}`;
  });
  const regions = [...new Set(data.flatMap((type) => type.regions))];
  return `${blocks.join("\n")}\nRegions: ${regions.join(", ")}\n`;
}
