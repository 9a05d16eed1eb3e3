// Why a database in a cluster is not as its owner wants it, in words for the owner.
import type { DatabaseWish } from "../drivers/driver.ts";
import { messageOf, PublicError } from "../lib/errors.ts";
import { presentable } from "../lib/presentable.ts";
import type { DatabaseFault } from "./engine.ts";

/** What an engine says may quote a name that somebody chose, of any length. */
const MOST_CHARACTERS = 200;

/** Somebody has made a database of this name by SQL, which the API neither takes over nor drops. */
export function isInTheWay(name: string): PublicError {
  return new PublicError(
    `The database "${name}" cannot be made: one of that name was made by SQL. Rename or drop that one, or delete this one.`,
  );
}

/** What became of the wish for a database. @param error what the engine said, or a `PublicError`. */
export function faultOf({ name, wish }: DatabaseWish, error: unknown): DatabaseFault {
  if (error instanceof PublicError) return { name, reason: error.message };
  const verb = wish === "present" ? "made" : "dropped";
  const said = presentable(messageOf(error), MOST_CHARACTERS);
  return { name, reason: `The database "${name}" could not be ${verb}: ${said}.` };
}
