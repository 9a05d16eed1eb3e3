// `pilvi caches keys`: lists the keys of a cache, shows a key's value, deletes a key.
import type { Command } from "commander";
import {
  PilviError,
  type CacheElement,
  type CacheText,
  type CacheValue,
  type PilviClient,
} from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import { countingNumber, nameArgument, withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { find } from "../shared/find.ts";
import { table } from "../table.ts";
import { cacheKind } from "./kind.ts";

interface Options {
  match?: string;
  type?: string;
  limit: number;
  wake?: true;
  base64?: true;
  delete?: true;
  yes?: true;
  json?: true;
}

type Keys = ReturnType<PilviClient["caches"]["keys"]>;
type Listed = Awaited<ReturnType<Keys["list"]>>["data"];

const MAX_COUNT = 100;

/** Adds the command. */
export function addKeys(caches: Command, session: Session): void {
  const command = caches
    .command("keys")
    .description("list the keys of a cache, or show the value of a key; no client of the cache waits for it")
    .argument("<name-or-id>", nameArgument(cacheKind.noun))
    .argument("[key]", "a key, whose value is shown")
    .option("--match <pattern>", "only keys with names like this, such as 'session:*'")
    .option("--type <type>", "only keys of this type: string, list, set, zset, hash or stream")
    .option("--limit <number>", "how many keys, or elements of a value, at most", countingNumber, 100)
    .option("--wake", "wake the cache if it sleeps")
    .option("--base64", "the key is given in base64, since it is no text")
    .option("--delete", "delete the key")
    .option("--yes", "delete it without a question");
  withJson(command).action(async (nameOrId: string, key: string | undefined, options: Options) => {
    await run(session, nameOrId, key, options).catch((error: unknown) => {
      throw isAsleep(error) ? new CommandError("The cache sleeps. Ask with --wake to wake it.") : error;
    });
  });
  withExamples(command, [
    "pilvi caches keys sessions --match 'user:*' --wake",
    "pilvi caches keys sessions user:42",
    "pilvi caches keys sessions user:42 --delete --yes",
  ]);
}

async function run(
  session: Session,
  nameOrId: string,
  key: string | undefined,
  options: Options,
): Promise<void> {
  const client = await session.client();
  const { data } = await find(cacheKind, client, nameOrId);
  const keys = client.caches.keys(data.id);
  if (key === undefined) return await list(session, keys, options);
  const name = { text: key, encoding: options.base64 === true ? "base64" : "utf8" } as const;
  if (options.delete === true) return await remove(session, keys, name, options);
  const document = await keys.get(name, { ...wakeOf(options), count: Math.min(options.limit, MAX_COUNT) });
  session.io.out(options.json === true ? jsonText(document) : valueText(document));
}

/** Whether the server asks for the parameter of its API that `--wake` sets. */
function isAsleep(error: unknown): boolean {
  return error instanceof PilviError && error.status === 409 && error.message.includes("`wake=true`");
}

async function list({ io }: Session, keys: Keys, options: Options): Promise<void> {
  const { match, type, limit, json } = options;
  if (options.delete === true) throw new CommandError("Name the key to delete.", 2);
  const found: Listed = [];
  for (let cursor: string | null | undefined; cursor !== null && found.length < limit;) {
    const page = await keys.list({
      ...wakeOf(options),
      ...(match !== undefined && { match }),
      // The server refuses an unknown type with a list of all types.
      ...(type !== undefined && { type: type as "string" }),
      ...(cursor !== undefined && { cursor }),
      count: Math.min(limit - found.length, MAX_COUNT),
    });
    found.push(...page.data);
    ({ cursor } = page.meta);
  }
  const shown = found.slice(0, limit);
  if (json === true) return io.out(jsonText({ data: shown }));
  if (shown.length === 0) return io.out("No key is like that.\n");
  const rows = shown.map(({ key, type: sort, ttl_ms: ttl, size_bytes: bytes }) => [
    shownText(key),
    sort,
    ttl === null ? "-" : `${Math.ceil(ttl / 1000)} s`,
    bytes === null ? "-" : String(bytes),
  ]);
  io.out(table([["KEY", "TYPE", "EXPIRES", "BYTES"], ...rows]));
}

async function remove(
  { io }: Session,
  keys: Keys,
  name: Parameters<Keys["delete"]>[0] & object,
  options: Options,
): Promise<void> {
  if (options.yes !== true) {
    if (!io.isInputTerminal) throw new CommandError("Say --yes to delete without a question.", 2);
    const answer = await io.ask(`Delete the key ${name.text}? Type yes: `);
    if (answer?.trim() !== "yes") throw new CommandError("Nothing was deleted.");
  }
  await keys.delete(name, wakeOf(options));
  io.err(`The key ${name.text} is deleted.\n`);
}

function wakeOf({ wake }: Options): { wake?: true } {
  return wake === true ? { wake } : {};
}

function valueText({ data, meta }: CacheValue): string {
  const { type, length, elements, is_too_large: isTooLarge } = data;
  const head = `${type}${length === null ? "" : `, ${length} ${type === "string" ? "bytes" : "elements"}`}\n`;
  const end = isTooLarge
    ? "(the next elements are too large to be shown)\n"
    : meta.cursor === null
      ? ""
      : "…\n";
  return head + elements.map((element) => `${elementText(element)}\n`).join("") + end;
}

function elementText({ id, field, value, score }: CacheElement): string {
  const before = [id, field && shownText(field), score].filter((part) => part !== undefined);
  return [...before, shownText(value)].join("  ");
}

/** Bytes that are no text stand in base64. */
function shownText({ text, encoding, is_cut: isCut }: CacheText): string {
  return `${encoding === "base64" ? `base64:${text}` : text}${isCut ? "…" : ""}`;
}
