// `pilvi activity`: who changed what in the organization, from where, and when.
import type { Command } from "commander";
import type { ActivityFilter, ActivityResource } from "../../sdk/index.ts";
import { sinceTime } from "../events/filter.ts";
import { countingNumber } from "../options.ts";
import { type Session, withExamples } from "../session.ts";
import { resourceIdOf } from "../shared/resource-id.ts";
import { table } from "../table.ts";

interface ActivityOptions {
  action?: string;
  kind?: string;
  resource?: string;
  since?: string;
  limit: number;
  json?: true;
}

const MAX_PER_PAGE = 100;

/** Adds the command. */
export function addActivity(program: Command, session: Session): void {
  const command = program
    .command("activity")
    .description("show who changed what, from where, the latest last, in UTC")
    .option("--action <action>", "only this action, such as delete; several with commas between them")
    .option("--kind <kind>", "only actions on this kind, such as caches; several with commas between them")
    .option("--resource <name-or-id>", "only actions on this one")
    .option("--since <time>", "only since then, such as 2h, 7d or 2026-03-15T08:00:00Z", sinceTime)
    .option("--limit <number>", "how many at most, the latest ones", countingNumber, 50)
    .option("--json", "print each activity as an object in one line")
    .action(async (options: ActivityOptions) => {
      await show(session, options);
    });
  withExamples(command, [
    "pilvi activity --since 1d",
    "pilvi activity --kind members,tokens",
    "pilvi activity --action delete --json | jq .attributes.actor.name",
  ]);
}

async function show({ io, client: connect }: Session, options: ActivityOptions): Promise<void> {
  const client = await connect();
  const { action, kind, resource, since, limit } = options;
  const filter: ActivityFilter = {
    ...(action !== undefined && { action: action.split(",") }),
    ...(kind !== undefined && { kind: kind.split(",") }),
    ...(resource !== undefined && { resource: [await resourceIdOf(client, resource)] }),
    ...(since !== undefined && { since }),
  };
  const found: ActivityResource[] = [];
  for await (const each of client.activity.all({ filter, perPage: Math.min(limit, MAX_PER_PAGE) })) {
    if (found.push(each) === limit) break;
  }
  if (options.json === true) {
    for (const each of found.toReversed()) io.out(`${JSON.stringify(each)}\n`);
    return;
  }
  if (found.length === 0) io.err("Nothing like that was done.\n");
  else io.out(table([["TIME", "ACTOR", "ADDRESS", "ACTION", "ON"], ...found.toReversed().map(rowOf)]));
}

function rowOf({ attributes }: ActivityResource): string[] {
  const { action, actor, address, kind, occurred_at: at, resource_id: id, details } = attributes;
  const time = at.slice(0, 19).replace("T", " ");
  return [
    time,
    actor?.name ?? actor?.id ?? "unknown",
    address ?? "unknown",
    action,
    `${kind} ${id}${failuresOf(details)}`,
  ];
}

/** The account of failed sign-ins, and their number. */
function failuresOf({ email, attempts }: Record<string, unknown>): string {
  if (typeof email !== "string" || typeof attempts !== "number") return "";
  return ` (${email}, ${attempts} ${attempts === 1 ? "attempt" : "attempts"})`;
}
