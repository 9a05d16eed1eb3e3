// The files of a folder that is in no repository, without those that its `.gitignore` files name.
import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import ignore, { type Ignore } from "ignore";

/** What nobody deploys on purpose, whether or not a file says so. */
const ALWAYS = [".git", "node_modules", ".DS_Store"];

/** The rules of a folder, for paths relative to that folder. */
interface Rules {
  folder: string;
  ignore: Ignore;
}

/**
 * Paths relative to the folder, in the order of their names.
 * @param most the search ends soon after so many files.
 */
export function filesOfFolder(folder: string, most: number): string[] {
  const found: string[] = [];
  const rest: { path: string; rules: Rules[] }[] = [
    { path: folder, rules: [{ folder, ignore: ignore().add(ALWAYS) }] },
  ];
  for (let next = rest.pop(); next !== undefined && found.length <= most; next = rest.pop()) {
    const { path } = next;
    const rules = [...next.rules, ...ownRules(path)];
    for (const entry of readdirSync(path, { withFileTypes: true }).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      const full = join(path, entry.name);
      if (isIgnored(full, entry.isDirectory(), rules)) continue;
      if (entry.isDirectory()) rest.push({ path: full, rules });
      else if (entry.isFile() || entry.isSymbolicLink()) found.push(relative(folder, full));
    }
  }
  return found.sort();
}

function ownRules(folder: string): Rules[] {
  try {
    return [{ folder, ignore: ignore().add(readFileSync(join(folder, ".gitignore"), "utf8")) }];
  } catch {
    return [];
  }
}

/** The nearest folder with a rule for the path decides, as in git. */
function isIgnored(path: string, isFolder: boolean, rules: readonly Rules[]): boolean {
  for (const { folder, ignore: rule } of rules.toReversed()) {
    const { ignored, unignored } = rule.test(relative(folder, path) + (isFolder ? "/" : ""));
    if (ignored) return true;
    if (unignored) return false;
  }
  return false;
}
