// The virtual environment of Python: most of an install is making it, so builds keep it for later builds.
import { sha256Hex } from "../../lib/secrets.ts";
import type { Folder } from "../folder.ts";
import { linesOf } from "../lines.ts";

/** Files by which the same packages are installed each time. */
const LOCKS = ["uv.lock", "poetry.lock", "Pipfile.lock"];

const KEY_LENGTH = 16;

/**
 * The commands of an install with the virtual environment before them. It is kept with its packages where the files name
 * each of their versions, and without packages otherwise, so that a build gets the newest packages that the files allow.
 * It is kept for one folder, since the programs in it name that folder.
 */
export function withVenv(folder: Folder, pythonVersion: string | null, install: readonly string[]): string[] {
  const locked = lockedContents(folder);
  const key = locked === null ? keyOf([pythonVersion]) : keyOf([pythonVersion, ...locked, ...install]);
  const begin = [
    `kept="$XDG_CACHE_HOME/venv$PWD/${key}"`,
    'test -x .venv/bin/python || cp -a "$kept" .venv 2>/dev/null || python3 -m venv .venv',
  ];
  return locked === null ? [...begin, KEEP, ...install] : [...begin, ...install, KEEP];
}

/**
 * Keeps this virtual environment alone. The copy gets its name once it is whole, so a killed build leaves no half of it,
 * and a full cache ends no build.
 */
const KEEP =
  'test -e "$kept" || (rm -rf "$XDG_CACHE_HOME/venv" && mkdir -p "${kept%/*}" && cp -a .venv "$kept.new" && mv "$kept.new" "$kept") || true';

/** The contents of the files that determine all packages, or the id of a content; null when nothing does. */
function lockedContents(folder: Folder): string[] | null {
  const lock = folder.firstOf(...LOCKS);
  if (lock === undefined) {
    const requirements = folder.text("requirements.txt") ?? "";
    return isPinned(requirements) ? [requirements] : null;
  }
  // What a link leads to may change without it.
  const object = folder.objectOf(lock);
  if (object === undefined) return null;
  return [object, folder.text("pyproject.toml") ?? "", folder.text("Pipfile") ?? ""];
}

/** Whether a file of requirements has nothing but packages with their versions. */
export function isPinned(requirements: string): boolean {
  const lines = linesOf(requirements.replaceAll(/\\\r?\n/g, " "))
    .map(withoutComment)
    .filter((line) => line !== "" && !HARMLESS.test(line));
  return lines.length > 0 && lines.every((line) => PINNED.test(line));
}

function withoutComment(line: string): string {
  const at = line.search(/(?:^|\s)#/);
  return (at < 0 ? line : line.slice(0, at)).trim();
}

/** Options that name no packages. */
const HARMLESS =
  /^(?:-i|-f|--(?:index-url|extra-index-url|find-links|trusted-host|prefer-binary|only-binary|no-binary|require-hashes))(?:[\s=]|$)/;

const PINNED = /^[A-Za-z0-9][\w.-]*(?:\[[\w\s,.-]*\])?\s*===?\s*[\w.!+-]+\s*(?:;[^#]*|--hash.*)?$/;

function keyOf(parts: readonly (string | null)[]): string {
  return sha256Hex(JSON.stringify(parts)).slice(0, KEY_LENGTH);
}
