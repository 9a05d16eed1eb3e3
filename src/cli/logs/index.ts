// `pilvi logs`: what the engine of a resource or the processes of an environment write, read or followed.
import type { Command } from "commander";
import type { LogEntry, LogFilter, PilviClient } from "../../sdk/index.ts";
import { targetOf, type TargetOptions, withEnvironment } from "../applications/target.ts";
import { sinceTime } from "../events/filter.ts";
import { wholeNumber } from "../options.ts";
import { type Session, withExamples } from "../session.ts";
import { resourceIdOf } from "../shared/resource-id.ts";

interface Options extends TargetOptions {
  follow?: true;
  since?: string;
  grep?: string;
  tail: number;
  json?: true;
}

type Reader = Pick<PilviClient["caches"], "logs" | "followLogs">;

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
    .option("--grep <text>", "only lines with this text, in whatever case")
    .option("--tail <number>", "without --since: begin with so many of the last lines", wholeNumber, 100)
    .option("--json", "print each line as an object in one line");
  withEnvironment(command).action(async (nameOrId: string | undefined, options: Options) => {
    if (nameOrId === undefined) {
      const { environments, environment } = await targetOf(session, options);
      return await show(session, environments, environment.id, options);
    }
    if (options.environment !== undefined)
      command.error("error: --environment is for the logs of the linked application", { exitCode: 2 });
    const client = await session.client();
    const id = await resourceIdOf(client, nameOrId);
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
  const { since, grep, tail, follow, json } = options;
  const print = (entry: LogEntry) => io.out(json === true ? `${JSON.stringify(entry)}\n` : lineOf(entry));
  const end = new AbortController();
  // Ctrl-C is the usual end, so it is not a failure.
  const forget = io.onInterrupt(() => end.abort());
  try {
    const filter: LogFilter = {
      ...(since === undefined ? { tail } : { from: since }),
      ...(grep !== undefined && { query: grep }),
    };
    const cursor = await printKept(reader, id, { ...filter, signal: end.signal }, print);
    if (follow !== true) return;
    const rest = grep === undefined ? {} : { query: grep };
    for await (const entry of reader.followLogs(id, { ...rest, cursor, signal: end.signal })) print(entry);
  } catch (error) {
    if (!end.signal.aborted) throw error;
  } finally {
    forget();
  }
}

/** Prints what the log has so far. @returns the position after it. */
async function printKept(
  reader: Reader,
  id: string,
  filter: LogFilter & { signal: AbortSignal },
  print: (entry: LogEntry) => void,
): Promise<string> {
  let page = await reader.logs(id, filter);
  for (;;) {
    for (const entry of page.data) print(entry);
    const { cursor, is_complete: isComplete } = page.meta;
    if (isComplete) return cursor;
    page = await reader.logs(id, { ...filter, cursor });
  }
}

/** Time up to milliseconds, level and message; a line without a time has blanks in its place. */
function lineOf({ logged_at: at, level, message }: LogEntry): string {
  const time = at === null ? "" : at.slice(0, 23).replace("T", " ");
  return `${time.padEnd(23)}  ${level.padEnd(7)}  ${message}\n`;
}
