// The `list` command of all kinds of resources.
import type { Command } from "commander";
import type { PageDocument, SingleDocument } from "../../sdk/index.ts";
import { writeList } from "../list-text.ts";
import { withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import type { Resource, ShownKind } from "./kind.ts";

interface ListOptions {
  type?: string;
  status?: string;
  region?: string;
  json?: true;
}

/** Adds the command. */
export function addList<Document extends SingleDocument<Resource>>(
  group: Command,
  session: Session,
  kind: ShownKind<Document>,
  examples: string[],
): void {
  const command = group
    .command("list")
    .description(`list ${kind.plural}`)
    .option("--type <type>", "only those of this type; several with commas between them")
    .option("--status <status>", "only those with this status")
    .option("--region <region>", "only those in this region");
  withJson(command).action(async ({ json, ...filter }: ListOptions) => {
    const client = await session.client();
    const pages = await Array.fromAsync(kind.requests(client).pages({ filter }));
    if (json === true) return session.io.out(jsonText(joined(pages)));
    const resources = pages.flatMap(({ data }) => data);
    if (resources.length > 0)
      return writeList(
        session.io,
        kind.columns,
        resources.map((each) => kind.cells(each)),
      );
    session.io.out(Object.keys(filter).length > 0 ? `No ${kind.noun} is like that.\n` : emptyText(kind));
  });
  withExamples(command, examples);
}

/**
 * One document for a program. A single page is printed as the API answered it. Several pages are printed as their
 * resources only, as links and page numbers would contradict the list.
 */
export function joined(pages: PageDocument<unknown>[]): unknown {
  return pages.length === 1 ? pages[0] : { data: pages.flatMap(({ data }) => data) };
}

function emptyText({ plural, group }: { plural: string; group: string }): string {
  return `There are no ${plural} yet. Create one with: pilvi ${group} create NAME --wait\n`;
}
