// The files of a folder that is in no repository, without those that its `.gitignore` files name.
import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import ignore, { type Ignore } from "ignore";
import { checkName, NEVER_DEPLOYED } from "./file-names.ts";

/** The patterns of all `.gitignore` files from the deployed folder down to one folder, the nearest last. */
interface Rules {
  patterns: readonly string[];
  ignore: Ignore;
}

/**
 * Paths relative to the folder, in the order of their names.
 * @param most the search ends soon after so many files.
 * @throws CommandError for a name that is no text.
 */
export function filesOfFolder(folder: string, most: number): string[] {
  const found: string[] = [];
  const rest = [{ path: folder, outer: rulesOf(NEVER_DEPLOYED) }];
  for (let next = rest.pop(); next !== undefined && found.length <= most; next = rest.pop()) {
    const { path, outer } = next;
    const rules = withOwnRules(outer, path, relative(folder, path));
    for (const entry of readdirSync(path, { withFileTypes: true }).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      const full = join(path, entry.name);
      if (rules.ignore.ignores(relative(folder, full) + (entry.isDirectory() ? "/" : ""))) continue;
      checkName(relative(folder, full), full);
      if (entry.isDirectory()) rest.push({ path: full, outer: rules });
      else if (entry.isFile() || entry.isSymbolicLink()) found.push(relative(folder, full));
    }
  }
  return found.sort();
}

function rulesOf(patterns: readonly string[]): Rules {
  return { patterns, ignore: ignore({ ignorecase: false }).add([...patterns]) };
}

/** @param place the folder, relative to the deployed folder; empty for that folder itself. */
function withOwnRules(outer: Rules, path: string, place: string): Rules {
  let text;
  try {
    text = readFileSync(join(path, ".gitignore"), "utf8");
  } catch {
    return outer;
  }
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"));
  return rulesOf([...outer.patterns, ...lines.map((line) => patternAt(place, line))]);
}

/**
 * The pattern that says of paths from the deployed folder what a pattern says in a folder below. Together in one list, a
 * later pattern overrules a former, so the nearest folder decides, as in git.
 */
function patternAt(place: string, pattern: string): string {
  if (place === "") return pattern;
  const mark = pattern.startsWith("!") ? "!" : "";
  const body = pattern.slice(mark.length);
  // A pattern with a slash before its end counts from its own folder, any other at every depth below it.
  const isAnchored = /\/(?=.*\S)/.test(body);
  const prefix = `/${place.replaceAll(/[\\*?[\]!#\s]/g, String.raw`\$&`)}`;
  return `${mark}${prefix}${isAnchored ? "/" : "/**/"}${body.replace(/^\//, "")}`;
}
