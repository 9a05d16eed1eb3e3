// `pilvi events`: the events of the organization's resources.
import type { Command } from "commander";
import type { EventFilter, EventResource, PilviClient } from "../../sdk/index.ts";
import type { Io } from "../io.ts";
import { countingNumber } from "../options.ts";
import { type Session, withExamples } from "../session.ts";
import { filterOf, sinceTime, type FilterOptions } from "./filter.ts";
import { eventLine, eventText } from "./text.ts";

interface EventsOptions extends FilterOptions {
  limit: number;
  follow?: true;
  json?: true;
}

const MAX_PER_PAGE = 100;

/** Adds the command. */
export function addEvents(program: Command, session: Session): void {
  const command = program
    .command("events")
    .description("show what happened to applications, caches and clusters, the latest last, in UTC")
    .option("--resource <name-or-id>", "only what happened to this one")
    .option(
      "--type <type>",
      "only events of this type, such as unavailable; several with commas between them",
    )
    .option(
      "--since <time>",
      "only what happened since then, such as 2h, 7d or 2026-03-15T08:00:00Z",
      sinceTime,
    )
    .option("--limit <number>", "how many at most, the latest ones", countingNumber, 50)
    .option("--follow", "go on with what happens, until Ctrl-C")
    .option("--json", "print each event as an object in one line")
    .action(async (options: EventsOptions) => {
      await show(session, options);
    });
  withExamples(command, [
    "pilvi events --since 1h",
    "pilvi events --follow",
    "pilvi events --resource sessions --type unavailable",
    "pilvi events --json --limit 1000 | jq .attributes.message",
  ]);
}

async function show({ io, client: connect }: Session, options: EventsOptions): Promise<void> {
  const client = await connect();
  const filter = await filterOf(client, options);
  const print = (event: EventResource) => io.out((options.json === true ? eventLine : eventText)(event));
  if (options.follow === true)
    return await follow(io, client.events, { filter, latest: options.limit }, print);
  const perPage = Math.min(options.limit, MAX_PER_PAGE);
  const events: EventResource[] = [];
  for await (const event of client.events.all({ filter, perPage })) {
    if (events.push(event) === options.limit) break;
  }
  if (events.length === 0 && options.json !== true) io.err("Nothing like that has happened.\n");
  for (const event of events.toReversed()) print(event);
}

/** Ctrl-C is the usual end, so it is not a failure. */
async function follow(
  io: Io,
  events: PilviClient["events"],
  query: { filter: EventFilter; latest: number },
  print: (event: EventResource) => void,
): Promise<void> {
  const end = new AbortController();
  const forget = io.onInterrupt(() => end.abort());
  try {
    for await (const event of events.follow({ ...query, signal: end.signal })) print(event);
  } finally {
    forget();
  }
}
