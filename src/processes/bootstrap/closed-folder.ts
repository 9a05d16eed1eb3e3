// Finds out whether the users that engines run as can reach a folder, and refuses a folder that they cannot reach.
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { Refusal } from "../../lib/errors.ts";

const OTHERS_MAY_PASS = 0o001;

/**
 * @returns the first folder on the way down to a path, as far as it exists, that engines may not pass through;
 * undefined when engines run as the user of Pilvi itself.
 */
export function closedToEngines(path: string): string | undefined {
  return process.getuid?.() === 0 ? closedFolder(path) : undefined;
}

/**
 * @param name the name of the folder in sentences, such as `the data directory`.
 * @param setting the variable that moves it.
 * @throws Refusal when engines could not reach it.
 */
export function refuseClosed(name: string, path: string, setting: string): void {
  const closed = closedToEngines(path);
  if (closed === undefined) return;
  throw new Refusal(
    `Other users cannot get to ${name} ${path}, because ${closed} is closed to them, ` +
      `and engines run under users of their own. Set ${setting} to another folder, or run: chmod o+x ${closed}`,
  );
}

function closedFolder(path: string): string | undefined {
  const above = path === dirname(path) ? undefined : closedFolder(dirname(path));
  if (above !== undefined || !existsSync(path)) return above;
  const status = statSync(path);
  // A path that is not a folder is another fault.
  return status.isDirectory() && (status.mode & OTHERS_MAY_PASS) === 0 ? path : undefined;
}
