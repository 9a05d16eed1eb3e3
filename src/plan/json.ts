// Reads JSON and TOML of a repository; a fault has its place.
import * as z from "zod/mini";
import { messageOf } from "../lib/errors.ts";
import { SourceFault } from "./faults.ts";
import { jsonFaultAt } from "./json-place.ts";

/** Beyond that many lines the place of a fault in TOML is not searched for. */
const MAX_TOML_LINES = 2_000;

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

/** The first line after the longest beginning of the text that is valid by itself. */
function tomlPlace(text: string): string {
  const lines = text.split("\n");
  if (lines.length > MAX_TOML_LINES) return "";
  for (let length = lines.length - 1; length > 0; length--) {
    if (isToml(lines.slice(0, length).join("\n"))) return `: line ${length + 1}`;
  }
  return ": line 1";
}

function isToml(text: string): boolean {
  try {
    Bun.TOML.parse(text);
    return true;
  } catch {
    return false;
  }
}
