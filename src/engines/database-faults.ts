// Explains to the owner why a database of a cluster differs from the spec.
import type { DatabaseSpec } from "../contracts/instance-spec.ts";
import { messageOf, PublicError } from "../lib/errors.ts";
import { presentable } from "../lib/presentable.ts";
import type { DatabaseFault } from "./engine.ts";

/** An engine's message may quote a name of any length that a customer chose. */
const MOST_CHARACTERS = 200;

/** A customer made a database of this name by SQL; the API neither takes it over nor drops it. */
export function isInTheWay(name: string): PublicError {
  return new PublicError(
    `The database "${name}" cannot be made: one of that name was made by SQL. Rename or drop that one, or delete this one.`,
  );
}

/** Explains why a database is not in its desired state. @param error what the engine said, or a `PublicError`. */
export function faultOf({ name, desiredState }: DatabaseSpec, error: unknown): DatabaseFault {
  if (error instanceof PublicError) return { name, reason: error.message };
  const verb = desiredState === "present" ? "made" : "dropped";
  const said = presentable(messageOf(error), MOST_CHARACTERS);
  return { name, reason: `The database "${name}" could not be ${verb}: ${said}.` };
}
