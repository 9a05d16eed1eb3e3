// The command that lists types or sizes, which differs between kinds only in its list and its texts.
import type { Command } from "commander";
import type { PilviClient } from "../../sdk/index.ts";
import { withJson } from "../options.ts";
import { filledLines, rowsOf, table } from "../table.ts";
import { jsonText, type Session, withExamples } from "../session.ts";

/** The parts of a kind's command. */
export interface TypesCommand<List> {
  /** `types` when left out. */
  name?: string;
  description: string;
  examples: string[];
  read(client: PilviClient): Promise<List>;
  text(list: List): string;
}

/** Adds the command. */
export function addTypes<List>(group: Command, session: Session, types: TypesCommand<List>): void {
  const command = group.command(types.name ?? "types").description(types.description);
  withJson(command).action(async ({ json }: { json?: true }) => {
    const list = await types.read(await session.client());
    session.io.out(json === true ? jsonText(list) : types.text(list));
  });
  withExamples(command, types.examples);
}

/** What is left of a line of 80 characters beside the word for them. */
const REGION_CHARACTERS = 70;

/** All regions that any of the types is offered in. */
export function regionsText(types: { regions: string[] }[]): string {
  const regions = new Set(types.flatMap((type) => type.regions));
  return table(rowsOf("Regions:", filledLines([...regions], REGION_CHARACTERS, ", ")));
}
