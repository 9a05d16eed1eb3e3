// Reads values from sockets and files by their contract, or names the members that break it.
import * as z from "zod/mini";
import { PublicError } from "../lib/errors.ts";

/** The most members that a refusal names, and the most characters of each name. */
const [MAX_FAULTS, MAX_NAME_LENGTH] = [4, 100];

/** A value breaks its contract. The message names members and never shows their values. */
export class ContractError extends PublicError {
  override name = "ContractError";
}

/**
 * Reads a value by its schema.
 * @param what the value, as the subject of a sentence.
 * @throws ContractError that names each member that is unknown, missing or malformed.
 */
export function readAs<T>(schema: z.core.$ZodType<T>, value: unknown, what: string): T {
  const result = z.safeParse(schema, value, { reportInput: true });
  if (result.success) return result.data;
  const faults = result.error.issues.flatMap(faultsOf);
  const rest = faults.length > MAX_FAULTS ? `, and ${faults.length - MAX_FAULTS} more` : "";
  throw new ContractError(
    `${what} is not as agreed: ${faults.slice(0, MAX_FAULTS).join(", ")}${rest}.`,
    result.error,
  );
}

/** As `readAs`, from JSON. */
export function readJsonAs<T>(schema: z.core.$ZodType<T>, text: string, what: string): T {
  return readAs(schema, parsed(text, what), what);
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ContractError(`${what} is no JSON.`, error);
  }
}

function faultsOf(issue: z.core.$ZodIssue): string[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => `${nameOf([...issue.path, key])} is unknown`);
  }
  return [`${nameOf(issue.path)} ${faultOf(issue)}`];
}

function faultOf(issue: z.core.$ZodIssue): string {
  if (issue.input === undefined) return "is missing";
  if (issue.code === "invalid_type") return `must be of type ${issue.expected}`;
  if (issue.code === "invalid_value" || issue.code === "invalid_union") return "has an unknown value";
  return "is malformed or out of bounds";
}

function nameOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? "it" : path.map(String).join(".").slice(0, MAX_NAME_LENGTH);
}
