// Checks values against schemas and reports every fault in plain sentences, by the name the client used.
import { z } from "zod";
import { nearest } from "../../lib/nearest.ts";
import { isStorable } from "../../lib/storable.ts";
import type { FieldErrors } from "../jsonapi/errors.ts";

/** For longer enumerations only the nearest values are listed. */
const MAX_LISTED_VALUES = 12;

/** Enumerations that are too long for an error, with the command that lists all their values. */
export const longEnumerations = z.registry<{ command: string }>();

/** A checked value: complete when there are no errors, or else the members that are valid by themselves. */
export interface Checked<Value> {
  valid: Partial<Value>;
  errors: FieldErrors;
}

/**
 * Checks an object as JSON has it. Null stands for absence where a member is optional and has no null of its own.
 * @param prefix the prefix of member names in errors, such as `config.` for the members of `config`.
 */
export function checkObject<Schema extends z.ZodObject>(
  schema: Schema,
  value: object,
  prefix = "",
): Checked<z.output<Schema>> {
  const given = withoutNulls(schema, value);
  const parsed = schema.safeParse(given, { error: faultOf });
  const errors: FieldErrors = {};
  for (const issue of parsed.error?.issues ?? []) {
    const field = prefix + issue.path.join(".");
    addFault(errors, field, `The field ${field} ${issue.message}.`);
  }
  const valid: Partial<z.output<Schema>> = parsed.success ? parsed.data : validMembers(schema, given);
  for (const [name, ...within] of unstorableIn(valid)) {
    // A single text in the request may have parts here that the client does not know of.
    const field = prefix + (typeof given[name] === "string" ? name : [name, ...within].join("."));
    addFault(errors, field, `The field ${field} has a character that is not allowed in text.`);
    delete valid[name];
  }
  return { valid, errors };
}

/**
 * The paths to the texts that Postgres cannot store: they contain NUL, or half of a surrogate pair. The names of
 * members need no such look: the store gets only the members that a schema names.
 */
function unstorableIn(value: object, way: string[] = []): [name: string, ...within: string[]][] {
  return Object.entries(value).flatMap(([name, part]: [string, unknown]) => {
    if (typeof part === "string") return isStorable(part) ? [] : [wayTo(way, name)];
    return typeof part === "object" && part !== null ? unstorableIn(part, wayTo(way, name)) : [];
  });
}

function wayTo(way: string[], name: string): [string, ...string[]] {
  const [first = name, ...others] = [...way, name];
  return [first, ...others];
}

/** Adds a sentence to the errors of a field. */
export function addFault(errors: FieldErrors, field: string, ...sentences: string[]): void {
  errors[field] = [...(errors[field] ?? []), ...sentences];
}

function validMembers<Schema extends z.ZodObject>(
  schema: Schema,
  value: Record<string, unknown>,
): Partial<z.output<Schema>> {
  const members: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(schema.shape)) {
    const parsed = z.safeParse(member, value[key]);
    if (parsed.success && parsed.data !== undefined) members[key] = parsed.data;
  }
  return members as Partial<z.output<Schema>>;
}

/** Copies the members that the schema knows, without nulls that stand for absence, at every depth. */
function withoutNulls(schema: z.ZodObject, value: object): Record<string, unknown> {
  const given = value as Record<string, unknown>;
  const copy: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(schema.shape)) {
    if (!Object.hasOwn(given, key)) continue;
    const part = given[key];
    if (part === null && standsForAbsence(member)) continue;
    copy[key] = withoutNullsIn(member, part);
  }
  return copy;
}

/** Where null is a value, such as that of a setting that is taken away, it is no absence. */
function standsForAbsence(member: z.core.$ZodType): boolean {
  return z.safeParse(member, undefined).success && !z.safeParse(member, null).success;
}

function withoutNullsIn(schema: z.core.$ZodType, value: unknown): unknown {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodObject && isObject(value)) return withoutNulls(inner, value);
  if (!(inner instanceof z.ZodArray) || !Array.isArray(value)) return value;
  return value.map((each) => withoutNullsIn(inner.element, each));
}

/** The object schema within optional, default and the like, or the schema of the members of a list. */
export function objectSchemaOf(schema: z.core.$ZodType): z.ZodObject | undefined {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodArray) return objectSchemaOf(inner.element);
  return inner instanceof z.ZodObject ? inner : undefined;
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) {
    return unwrapped(schema.def.innerType);
  }
  return schema;
}

/** Whether JSON would call it an object. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The fault as the end of a sentence that begins with the field. */
function faultOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return "is required";
  switch (issue.code) {
    case "invalid_type":
      return `must be ${nounOf(issue.expected)}`;
    case "invalid_value":
      return oneOf(issue.values.map(String), issue.input, issue.inst);
    case "too_small":
      return sizeFault(issue.origin, "at least", issue.minimum);
    case "too_big":
      return sizeFault(issue.origin, "at most", issue.maximum);
    default:
      return undefined;
  }
}

function nounOf(expected: string): string {
  const nouns: Record<string, string> = {
    string: "a string",
    number: "a number",
    int: "an integer",
    boolean: "true or false",
    object: "an object",
    record: "an object",
    array: "an array",
  };
  return nouns[expected] ?? expected;
}

function sizeFault(origin: string, comparison: string, limit: number | bigint): string {
  const plural = Number(limit) === 1 ? "" : "s";
  if (origin === "string") return `must have ${comparison} ${limit} character${plural}`;
  if (origin === "array") return `must have ${comparison} ${limit} member${plural}`;
  return `must be ${comparison} ${limit}`;
}

function oneOf(values: string[], input: unknown, schema: unknown): string {
  if (values.length <= MAX_LISTED_VALUES) return `must be one of ${values.join(", ")}`;
  const command = schema instanceof z.core.$ZodType ? longEnumerations.get(schema)?.command : undefined;
  const wanted = typeof input === "string" ? input : "";
  return `has an unknown value; ${suggestion(wanted, values, command)}`;
}

/** The nearest values for a value that is not allowed, and the command that lists all values. */
export function suggestion(wanted: string, values: readonly string[], command = "the documentation"): string {
  const near = nearest(wanted, values).join(" or ");
  return `${near === "" ? "" : `did you mean ${near}? `}${command} lists all`;
}
