// `pilvi logs`: what the engine of a resource or the processes of an environment write, read or followed.
import { type Command, Option } from "commander";
import type { EnvironmentLogFilter, EnvironmentLogFilterType, PilviClient } from "../../sdk/index.ts";
import { targetOf, type TargetOptions, withEnvironment } from "../applications/target.ts";
import { sinceTime } from "../events/filter.ts";
import { wholeNumber } from "../options.ts";
import { type Session, withExamples } from "../session.ts";
import { resourceIdOf } from "../shared/resource-id.ts";
import { withoutSequences } from "../shared/terminal-sequences.ts";

interface Options extends TargetOptions {
  follow?: true;
  since?: string;
  until?: string;
  grep?: string;
  type?: EnvironmentLogFilterType;
  instance?: string;
  deployment?: string;
  tail: number;
  json?: true;
}

/** An entry of any log. */
interface Entry {
  message: string;
  level: string;
  logged_at: string | null;
  type: string;
  data?: object | null;
}

/** The options that select entries; only the log of an environment has all of them. */
type Filter = EnvironmentLogFilter & { to?: string; signal: AbortSignal };

interface Reader {
  logs(
    id: string,
    filter: Filter & { cursor?: string },
  ): Promise<{ data: Entry[]; meta: { cursor: string; is_complete: boolean } }>;
  followLogs(id: string, filter: Omit<Filter, "to"> & { cursor?: string }): AsyncIterable<Entry>;
}

const TYPES = ["all", "application", "exception", "access", "system"] as const;

/** Adds the command. */
export function addLogs(program: Command, session: Session): void {
  const command = program
    .command("logs")
    .description(
      "show what the linked environment, or the engine of a resource, has written, in UTC; nothing is woken",
    )
    .argument("[name-or-id]", "a cache or cluster, or the id of an environment (default: the linked one)")
    .option("-f, --follow", "go on with what it writes, until Ctrl-C")
    .option("--since <time>", "only lines since then, such as 10m, 2h or 2026-03-15T08:00:00Z", sinceTime)
    .option("--until <time>", "only lines before then", sinceTime)
    .addOption(new Option("--type <type>", "of an environment: only entries of this type").choices(TYPES))
    .option("--instance <id>", "of an environment: only entries of this process (proc-…)")
    .option("--deployment <id>", "of an environment: only entries of the processes of this deployment")
    .option("--grep <text>", "only lines with this text, in whatever case")
    .option("--tail <number>", "without --since: begin with so many of the last lines", wholeNumber, 100)
    .option("--json", "print each line as an object in one line");
  withEnvironment(command).action(async (nameOrId: string | undefined, options: Options) => {
    if (options.follow === true && options.until !== undefined)
      command.error("error: --until does not go with --follow", { exitCode: 2 });
    if (nameOrId === undefined) {
      const { environments, environment } = await targetOf(session, options);
      return await show(session, environments, environment.id, options);
    }
    if (options.environment !== undefined)
      command.error("error: --environment is for the logs of the linked application", { exitCode: 2 });
    const client = await session.client();
    const id = await resourceIdOf(client, nameOrId);
    const isOther = [options.type, options.instance, options.deployment].some((each) => each !== undefined);
    if (isOther && !id.startsWith("env-"))
      command.error("error: --type, --instance and --deployment are for the log of an environment", {
        exitCode: 2,
      });
    await show(session, readerOf(client, id), id, options);
  });
  withExamples(command, [
    "pilvi logs --follow",
    "pilvi logs orders",
    "pilvi logs orders --follow --grep deadlock",
    "pilvi logs sessions --since 10m --json | jq -r .message",
  ]);
}

/** The collection of an id, which begins with the sort of its resource. */
function readerOf(client: PilviClient, id: string): Reader {
  if (id.startsWith("db-")) return client.databases;
  // The path of an environment's log does not depend on its application.
  if (id.startsWith("env-")) return client.applications.environments("");
  return id.startsWith("ws-") ? client.websockets : client.caches;
}

async function show({ io }: Session, reader: Reader, id: string, options: Options): Promise<void> {
  const { follow, json } = options;
  const print = (entry: Entry) => io.out(json === true ? `${JSON.stringify(entry)}\n` : lineOf(entry));
  const end = new AbortController();
  // Ctrl-C is the usual end, so it is not a failure.
  const forget = io.onInterrupt(() => end.abort());
  try {
    const selected = { ...filterOf(options), signal: end.signal };
    const { since, until, tail } = options;
    const begin = since === undefined ? { tail } : { from: since };
    const kept = { ...selected, ...begin, ...(until !== undefined && { to: until }) };
    const cursor = await printKept(reader, id, kept, print);
    if (follow !== true) return;
    for await (const entry of reader.followLogs(id, { ...selected, cursor })) print(entry);
  } catch (error) {
    if (!end.signal.aborted) throw error;
  } finally {
    forget();
  }
}

function filterOf({ grep, type, instance, deployment }: Options): EnvironmentLogFilter {
  return {
    ...(grep !== undefined && { query: grep }),
    ...(type !== undefined && { type }),
    ...(instance !== undefined && { instances: [instance] }),
    ...(deployment !== undefined && { deployment }),
  };
}

/** Prints what the log has so far. @returns the position after it. */
async function printKept(
  reader: Reader,
  id: string,
  filter: Filter,
  print: (entry: Entry) => void,
): Promise<string> {
  let page = await reader.logs(id, filter);
  for (;;) {
    for (const entry of page.data) print(entry);
    const { cursor, is_complete: isComplete } = page.meta;
    if (isComplete) return cursor;
    page = await reader.logs(id, { ...filter, cursor });
  }
}

/** Time up to milliseconds, level, message and data; a line without a time has blanks in its place. */
function lineOf({ logged_at: at, level, message, type, data }: Entry): string {
  const time = at === null ? "" : at.slice(0, 23).replace("T", " ");
  const said = type === "exception" ? exceptionText(message, data) : `${message}${dataText(type, data)}`;
  return `${time.padEnd(23)}  ${level.padEnd(7)}  ${withoutSequences(said)}\n`;
}

/** The class and the message of an exception, and its trace in lines of its own, whose indents mark places. */
function exceptionText(message: string, data: object | null | undefined): string {
  const { class: name, trace }: { class?: unknown; trace?: unknown } = data ?? {};
  // The message of an exception without one is its class.
  const isNamed = typeof name !== "string" || `${message}:`.startsWith(`${name}:`);
  const lines: unknown[] = Array.isArray(trace) ? trace : [];
  const head = isNamed ? message : `${name}: ${message}`;
  return [head, ...lines.map((line) => `  ${String(line).trimEnd()}`)].join("\n");
}

/** The time of a request, and what a line of JSON has besides. */
function dataText(type: string, data: object | null | undefined): string {
  if (data === null || data === undefined) return "";
  if (type === "access" && "duration_ms" in data && data.duration_ms !== null)
    return ` ${String(data.duration_ms)}ms`;
  const context = "context" in data ? data.context : null;
  return context === null || context === undefined ? "" : ` ${JSON.stringify(context)}`;
}
