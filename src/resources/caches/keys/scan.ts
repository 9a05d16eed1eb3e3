// Lists keys with SCAN, which never holds up the engine's other clients, within a bound of steps.
import type { CacheConnection, Command } from "./connection.ts";
import { iterate, type Step } from "./iteration.ts";
import { ReplyError, type Reply } from "./resp.ts";
import type { KeysDocument, KeysQuery, ListedKey } from "./schema.ts";
import { keyText } from "./text.ts";

/** The most steps of one page. A page that found nothing has a cursor to go on from. */
const MAX_STEPS = 50;

/** The keys that a step looks at while a filter keeps most of them out. */
const FILTERED_STEP = 500;

/** The elements from which the engine estimates the size of a key. */
const SAMPLES = "5";

/** @throws ReplyError when the engine refuses. */
export async function scanKeys(cache: CacheConnection, query: KeysQuery): Promise<KeysDocument> {
  const { match, type, count } = query;
  const isFiltered = match !== undefined || type !== undefined;
  const step = String(isFiltered ? Math.max(count, FILTERED_STEP) : count);
  const filters = [...(match ? ["MATCH", match] : []), ...(type === undefined ? [] : ["TYPE", type])];
  const keys: Buffer[] = [];
  const commandAt = (cursor: string): Command => ["SCAN", cursor, ...filters, "COUNT", step];
  let cursor: string | null = query.cursor ?? "0";
  for (let steps = 0; steps < MAX_STEPS && keys.length < count && cursor !== null; steps++) {
    const next: Step = await iterate(cache, cursor, commandAt);
    keys.push(...next.found.filter(Buffer.isBuffer));
    cursor = next.cursor;
  }
  return { data: await describeKeys(cache, keys), meta: { cursor } };
}

/** Type, expiry and size of keys; a key that is gone meanwhile has the type `none`. */
export async function describeKeys(cache: CacheConnection, keys: readonly Buffer[]): Promise<ListedKey[]> {
  const replies = await cache.ask(
    keys.flatMap((key) => [
      ["TYPE", key],
      ["PTTL", key],
      ["MEMORY", "USAGE", key, "SAMPLES", SAMPLES],
    ]),
  );
  return keys.map((key, index) => {
    const [type, ttlMs, bytes] = replies.slice(index * 3, index * 3 + 3);
    return {
      key: keyText(key),
      type: Buffer.isBuffer(type) ? type.toString() : "none",
      ttl_ms: typeof ttlMs === "number" && ttlMs >= 0 ? ttlMs : null,
      size_bytes: typeof bytes === "number" ? bytes : null,
    };
  });
}

/** The answer of one command. @throws ReplyError when the engine refuses. */
export async function only(cache: CacheConnection, command: Command): Promise<Reply> {
  const [reply = null] = await cache.ask([command]);
  if (reply instanceof ReplyError) throw reply;
  return reply;
}
