// `pilvi organization`: the organization of the token, and how much of its quotas is taken.
import type { Command } from "commander";
import type { OrganizationDocument } from "../../sdk/index.ts";
import { bytesText } from "../shared/details.ts";
import { withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { table } from "../table.ts";

/** Adds the command. */
export function addOrganization(program: Command, session: Session): void {
  const command = program
    .command("organization")
    .description("show the organization of the token, and what is used of the quotas");
  withJson(command).action(async ({ json }: { json?: true }) => {
    const document = await (await session.client()).organization.get();
    session.io.out(json === true ? jsonText(document) : organizationText(document));
  });
  withExamples(command, [
    "pilvi organization",
    "pilvi organization --json | jq .data.meta.quotas.resources.used",
  ]);
}

interface Amount {
  limit: number | null;
  used: number;
}

/** Its name, and a row for each quota. */
function organizationText({ data: { id, attributes, meta } }: OrganizationDocument): string {
  const head = table([
    ["Organization", attributes.name],
    ["Id", id],
    ...(meta.token === null ? [] : [["Token", meta.token.name]]),
  ]);
  const own: Record<string, Amount> = meta.token?.quotas ?? {};
  const rows = Object.entries(meta.quotas).map(([name, amount]: [string, Amount]) =>
    [[name.replace("_bytes", "")], cellsOf(name, amount), cellsOf(name, own[name])].flat(),
  );
  const quotas = table([["QUOTA", "USED", "LIMIT", "TOKEN USED", "TOKEN LIMIT"], ...rows]);
  return [head, quotas, ...meta.notices].join("\n");
}

function cellsOf(name: string, amount: Amount | undefined): [used: string, limit: string] {
  if (amount === undefined) return ["", ""];
  const { limit, used } = amount;
  const text = name.endsWith("_bytes") ? bytesText : String;
  return [text(used), limit === null ? "none" : text(limit)];
}
