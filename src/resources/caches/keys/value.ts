// Reads a part of a key's value: a range of a string, or some elements of all else.
import type { CacheConnection, Command } from "./connection.ts";
import { TooLarge, type Reply } from "./resp.ts";
import { arrayOf, iterate } from "./iteration.ts";
import { describeKeys, only } from "./scan.ts";
import type { KeyDocument, KeyElement, KeyQuery } from "./schema.ts";
import { keyText } from "./text.ts";

/** The bytes of a string that are shown at once. */
const STRING_BYTES = 64 * 1024;

/** The bytes that the elements of one answer should have, by the estimated size of each. */
const WANTED_BYTES = 1024 ** 2;

/** A part of a value. */
interface Part {
  elements: KeyElement[];
  cursor: string | null;
}

/** How the values of a type are read whose elements have places. */
interface OrderedType {
  length: string;
  /** The command for a part. @param at where the part begins. */
  command(key: Buffer, at: string, count: number): Command;
  part(reply: Reply, at: string, length: number): Part;
}

/** How the values of a type are read whose elements have no order. */
interface IteratedType {
  length: string;
  /** The command like SCAN. */
  iteration: string;
  elements(found: Reply[]): KeyElement[];
}

const shown = (reply: Reply | undefined) => keyText(Buffer.isBuffer(reply) ? reply : Buffer.alloc(0));

/** A list or a sorted set is read by the positions of its elements. */
function byIndex(at: string, length: number, elements: KeyElement[]): Part {
  const next = Number(at) + elements.length;
  return { elements, cursor: elements.length === 0 || next >= length ? null : String(next) };
}

/** Answers that have two parts of an element after each other. */
function pairs<T>(replies: Reply[], pairOf: (first: Reply | undefined, second: Reply | undefined) => T): T[] {
  return Array.from({ length: replies.length / 2 }, (_, index) =>
    pairOf(replies[index * 2], replies[index * 2 + 1]),
  );
}

const lastIndex = (at: string, count: number) => String(Number(at) + count - 1);

const valueTypes: Record<string, OrderedType | IteratedType> = {
  string: {
    length: "STRLEN",
    command: (key, at) => ["GETRANGE", key, at, lastIndex(at, STRING_BYTES)],
    part(reply, at, length) {
      const bytes = Buffer.isBuffer(reply) ? reply : Buffer.alloc(0);
      const next = Number(at) + bytes.length;
      const cursor = bytes.length === 0 || next >= length ? null : String(next);
      return { elements: [{ value: keyText(bytes, STRING_BYTES) }], cursor };
    },
  },
  list: {
    length: "LLEN",
    command: (key, at, count) => ["LRANGE", key, at, lastIndex(at, count)],
    part: (reply, at, length) =>
      byIndex(
        at,
        length,
        arrayOf(reply).map((each) => ({ value: shown(each) })),
      ),
  },
  zset: {
    length: "ZCARD",
    command: (key, at, count) => ["ZRANGE", key, at, lastIndex(at, count), "WITHSCORES"],
    part: (reply, at, length) =>
      byIndex(
        at,
        length,
        pairs(arrayOf(reply), (member, score) => ({ value: shown(member), score: String(score) })),
      ),
  },
  hash: {
    length: "HLEN",
    iteration: "HSCAN",
    elements: (found) => pairs(found, (field, value) => ({ field: shown(field), value: shown(value) })),
  },
  set: {
    length: "SCARD",
    iteration: "SSCAN",
    elements: (found) => found.map((member) => ({ value: shown(member) })),
  },
  stream: {
    length: "XLEN",
    command: (key, at, count) => ["XRANGE", key, at === "0" ? "-" : `(${at}`, "+", "COUNT", String(count)],
    part(reply) {
      const entries = arrayOf(reply).map(arrayOf);
      const elements = entries.flatMap(([id, fields]) =>
        pairs(arrayOf(fields), (field, value) => ({
          id: String(id),
          field: shown(field),
          value: shown(value),
        })),
      );
      const last = entries.at(-1)?.[0];
      return { elements, cursor: last === undefined ? null : String(last) };
    },
  },
};

/** @returns undefined for a key that does not exist. @throws ReplyError when the engine refuses. */
export async function readValue(
  cache: CacheConnection,
  key: Buffer,
  { cursor = "0", count }: KeyQuery,
): Promise<KeyDocument | undefined> {
  const [about] = await describeKeys(cache, [key]);
  if (about === undefined || about.type === "none") return undefined;
  const valueType = valueTypes[about.type];
  const nothing = { ...about, length: null, elements: [], is_too_large: false };
  // A type of a module has no form that is known here.
  if (valueType === undefined) return { data: nothing, meta: { cursor: null } };
  const length = Number(await only(cache, [valueType.length, key]));
  const most = mostElements(about.size_bytes ?? 0, length, count);
  try {
    const part =
      "iteration" in valueType
        ? await iteratedPart(cache, valueType, key, cursor, most)
        : valueType.part(await only(cache, valueType.command(key, cursor, most)), cursor, length);
    return { data: { ...nothing, length, elements: part.elements }, meta: { cursor: part.cursor } };
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    return { data: { ...nothing, length, is_too_large: true }, meta: { cursor: null } };
  }
}

async function iteratedPart(
  cache: CacheConnection,
  { iteration, elements }: IteratedType,
  key: Buffer,
  from: string,
  count: number,
): Promise<Part> {
  const commandAt = (at: string): Command => [iteration, key, at, "COUNT", String(count)];
  const { found, cursor } = await iterate(cache, from, commandAt);
  return { elements: elements(found), cursor };
}

/** The engine holds a whole answer in its memory, so large elements are asked for in small numbers. */
function mostElements(bytes: number, length: number, count: number): number {
  const perElement = Math.max(1, bytes / Math.max(1, length));
  return Math.max(1, Math.min(count, Math.floor(WANTED_BYTES / perElement)));
}
