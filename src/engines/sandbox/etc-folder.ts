// The folder that sandboxes show as `/etc`, with copies of what programs read of the machine's own. Its mount takes the
// place of a mount for each file, and every mount delays the start of an application by a third of a millisecond.
import {
  accessSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  type Stats,
} from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../lib/errors.ts";
import { replaceLink } from "../../lib/files.ts";
import { CONF_PLACE, NAME_FILES } from "./sandbox.ts";
import { ETC_FILES, ETC_FOLDERS } from "./system.ts";

/** A copied time can be rounded. */
const MAX_ROUNDING_MS = 2;

/**
 * Makes the folder, and replaces copies whose files have changed. Running applications see the change, too.
 * @param source the folder of the machine.
 * @throws when a file cannot be copied and has no former copy.
 */
export function ensureEtcFolder(folder: string, source = "/etc"): void {
  // Mounts need their places.
  for (const name of ETC_FOLDERS) mkdirSync(join(folder, name), { recursive: true, mode: 0o755 });
  for (const name of NAME_FILES) ensureLink(join(folder, name), join(CONF_PLACE, name));
  for (const name of ETC_FILES) ensureFile(join(folder, name), join(source, name));
}

function ensureFile(path: string, source: string): void {
  const from = realFile(source);
  if (from === null) rmSync(path, { force: true });
  // Programs read the name of the time zone from where this link leads.
  else if (from.path.startsWith("/usr/")) ensureLink(path, from.path);
  else if (!isCopy(path, from.stats)) copy(from, path);
}

/** The file that a path leads to; null when no file is there, or Pilvi may not read it. */
function realFile(source: string): { path: string; stats: Stats } | null {
  try {
    const path = realpathSync.native(source);
    const stats = statSync(path);
    accessSync(path, constants.R_OK);
    return stats.isFile() ? { path, stats } : null;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "EACCES") return null;
    throw error;
  }
}

function isCopy(path: string, { size, mtimeMs }: Stats): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return (
    found?.isFile() === true && found.size === size && Math.abs(found.mtimeMs - mtimeMs) < MAX_ROUNDING_MS
  );
}

/** On a full disk the former copy remains. */
function copy(from: { path: string; stats: Stats }, path: string): void {
  const temporary = `${path}.tmp`;
  try {
    copyFileSync(from.path, temporary);
    utimesSync(temporary, from.stats.atimeMs / 1000, from.stats.mtimeMs / 1000);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) throw error;
  }
}

function ensureLink(path: string, target: string): void {
  if (linkOf(path) !== target) replaceLink(path, target);
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch (error) {
    // A file in its place is replaced.
    if (codeOf(error) === "ENOENT" || codeOf(error) === "EINVAL") return null;
    throw error;
  }
}
