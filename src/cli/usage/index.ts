// `pilvi usage`: what the organization's resources used in a month.
import { type Command, InvalidArgumentError, Option } from "commander";
import type { UsageFilter, UsagePage } from "../../sdk/index.ts";
import { type Session, withExamples } from "../session.ts";
import { resourceIdOf } from "../shared/resource-id.ts";
import { usageText } from "./text.ts";

interface UsageOptions {
  month?: string;
  resource?: string;
  kind?: NonNullable<UsageFilter["kind"]>[number];
  csv?: true;
  json?: true;
}

/** Adds the command. */
export function addUsage(program: Command, session: Session): void {
  const command = program
    .command("usage")
    .description("show what caches and clusters used in a month, and what sleeping saved")
    .option("--month <month>", "such as 2026-11, in UTC; the present month when left out", monthOf)
    .option("--resource <name-or-id>", "only what this one used")
    .addOption(
      new Option("--kind <kind>", "only resources of this kind").choices([
        "caches",
        "databases",
        "websockets",
      ]),
    )
    .option("--csv", "print a table in CSV, with a row for each resource and day")
    .option("--json", "print each page of the API's document in one line")
    .action(async (options: UsageOptions) => {
      await show(session, options);
    });
  withExamples(command, [
    "pilvi usage",
    "pilvi usage --month 2026-10 --csv > usage.csv",
    "pilvi usage --kind databases --json | jq .meta.totals.awake_ms",
  ]);
}

function monthOf(text: string): string {
  if (!/^20\d\d-(0[1-9]|1[0-2])$/.test(text)) throw new InvalidArgumentError("It must be such as 2026-11.");
  return text;
}

async function show({ io, client: connect }: Session, options: UsageOptions): Promise<void> {
  const client = await connect();
  const { month, kind, resource } = options;
  const filter: UsageFilter = {
    ...(month !== undefined && { month }),
    ...(kind !== undefined && { kind: [kind] }),
    ...(resource !== undefined && { resource: [await resourceIdOf(client, resource)] }),
  };
  if (options.csv === true) {
    // Lines end here as in every file of this system.
    const decoder = new TextDecoder();
    for await (const chunk of await client.usage.csv(filter))
      io.out(decoder.decode(chunk, { stream: true }).replaceAll("\r", ""));
    return;
  }
  const pages: UsagePage[] = [];
  for await (const page of client.usage.pages(filter)) {
    if (options.json === true) io.out(`${JSON.stringify(page)}\n`);
    else pages.push(page);
  }
  if (options.json !== true) io.out(usageText(pages));
}
