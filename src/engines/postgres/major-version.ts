// The number of a Postgres on which its features, its settings and the format of its data depend.
import { PublicError } from "../../lib/errors.ts";
import type { InstalledEngine } from "../installed.ts";

/** @throws PublicError for a version that does not begin with a number. */
export function majorOf({ version }: Pick<InstalledEngine, "version">): number {
  const major = Number(version.split(".")[0]);
  if (!Number.isInteger(major)) throw new PublicError(`Postgres ${version} is of no known version.`);
  return major;
}
