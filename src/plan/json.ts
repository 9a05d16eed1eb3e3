// Reads JSON and TOML of a repository; a fault has its place.
import * as z from "zod/mini";
import { messageOf } from "../lib/errors.ts";
import { SourceFault } from "./faults.ts";
import { jsonFaultAt } from "./json-place.ts";

/** The parser compares each key of TOML with all others of its table, which takes a minute for the keys of 1 MiB. */
const MAX_TOML_KEYS = 3_000;

/** Characters that are parsed to find the place of a fault in TOML; some more for each time. */
const [MAX_TOML_SEARCH, TOML_PARSE] = [4 << 20, 200];

/**
 * Reads the members of a file that a schema names, and passes over the others.
 * @throws SourceFault when the text is no JSON, or when a member has another type.
 */
export function readJson<T>(schema: z.core.$ZodType<T>, file: string, text: string): T {
  return readValue(schema, file, parsedJson(file, text));
}

/** As `readJson`, for JSON with comments and commas at the end. */
export function readJsonWithComments<T>(schema: z.core.$ZodType<T>, file: string, text: string): T {
  return readValue(schema, file, parsedJson(file, text, true));
}

/** As `readJson`, for TOML. */
export function readToml<T>(schema: z.core.$ZodType<T>, file: string, text: string): T {
  if (hasManyKeys(text))
    throw new SourceFault(file, `has more than ${MAX_TOML_KEYS} keys; Pilvi reads no more of TOML.`);
  let value: unknown;
  try {
    value = Bun.TOML.parse(text);
  } catch (error) {
    throw new SourceFault(file, `is no valid TOML${tomlPlace(text)}.`, error);
  }
  return readValue(schema, file, value);
}

function parsedJson(file: string, text: string, withComments = false): unknown {
  try {
    return withComments ? Bun.JSONC.parse(text) : JSON.parse(text);
  } catch (error) {
    if (error instanceof RangeError) throw new SourceFault(file, "is nested too deeply.", error);
    const place = jsonFaultAt(text, withComments);
    const where = place === undefined ? "" : `: line ${place.line}, column ${place.column}`;
    throw new SourceFault(file, `is no valid JSON${where}.`, error);
  }
}

function readValue<T>(schema: z.core.$ZodType<T>, file: string, value: unknown): T {
  const result = z.safeParse(schema, value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const member = issue === undefined || issue.path.length === 0 ? "its content" : memberName(issue.path);
  const expected =
    issue?.code === "invalid_type" ? ` must be of type ${issue.expected}` : " is malformed or out of bounds";
  throw new SourceFault(file, `cannot be used: ${member}${expected}.`, messageOf(result.error));
}

function memberName(path: readonly PropertyKey[]): string {
  return `\`${path.map(String).join(".").slice(0, 100)}\``;
}

/** Counts the heads of tables as well. */
function hasManyKeys(text: string): boolean {
  let count = 0;
  for (const _ of text.matchAll(/=+|^[ \t]*\[/gm)) {
    count += 1;
    if (count > MAX_TOML_KEYS) return true;
  }
  return false;
}

/** The first line after the longest beginning of the text that is valid by itself; empty when the search takes long. */
function tomlPlace(text: string): string {
  const lines = text.split(/\r?\n/);
  const textOf = (from: number, to: number) => lines.slice(from, to).join("\n");
  /** Where each statement begins, which is valid by itself, and may have several lines. */
  const starts = [0];
  let room = MAX_TOML_SEARCH;
  for (let [start, end] = [0, 1]; start < lines.length; end += 1) {
    if (end > lines.length) return `: line ${start + 1}`;
    const statement = textOf(start, end);
    room -= statement.length + TOML_PARSE;
    if (room < 0) return "";
    if (!isToml(statement)) continue;
    starts.push(end);
    start = end;
  }
  // All are valid by themselves, so what a statement makes invalid stays so with all further ones.
  let [good, bad] = [0, starts.length - 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (isToml(textOf(0, starts[middle] ?? 0))) good = middle;
    else bad = middle;
  }
  return `: line ${(starts[good] ?? 0) + 1}`;
}

function isToml(text: string): boolean {
  try {
    Bun.TOML.parse(text);
    return true;
  } catch {
    return false;
  }
}
