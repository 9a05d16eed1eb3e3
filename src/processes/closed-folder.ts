// Finds out whether the users that engines run as can get to a folder at all.
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";

const OTHERS_MAY_PASS = 0o001;

/** @returns the first folder on the way down to a path, as far as it exists, that other users may not pass through. */
export function closedFolder(path: string): string | undefined {
  const above = path === dirname(path) ? undefined : closedFolder(dirname(path));
  if (above !== undefined || !existsSync(path)) return above;
  const status = statSync(path);
  // What is no folder at all is another fault.
  return status.isDirectory() && (status.mode & OTHERS_MAY_PASS) === 0 ? path : undefined;
}
