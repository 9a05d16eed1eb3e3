// The names of commits and branches that may become arguments of git.
import { SourceRefusal, shown } from "./faults.ts";

/** @throws SourceRefusal when the text is no hash, which might else be an option or another name. */
export function checkedHash(hash: string): string {
  if (/^[0-9a-f]{40}$/.test(hash)) return hash;
  throw new SourceRefusal(`${shown(hash)} is no hash of a commit; it has 40 digits and letters from a to f.`);
}

/** @throws SourceRefusal unless it is a ref that Pilvi takes. */
export function checkRef(ref: string): void {
  if (!isRef(ref))
    throw new SourceRefusal(`${shown(nameIn(ref) || ref)} is no name of a branch that Pilvi takes.`);
}

/** Whether git itself allows the name; only two folders are for branches. */
export function isRef(ref: string): boolean {
  const name = nameIn(ref);
  return (
    /^[A-Za-z0-9_][\w.+@#/-]{0,199}$/.test(name) && !/\.\.|@\{|\/\/|\/\.|\.\/|\.lock(?:\/|$)|[./]$/.test(name)
  );
}

/** The full name of a branch. */
export function refOf(branch: string): string {
  return `refs/heads/${branch}`;
}

function nameIn(ref: string): string {
  return /^refs\/(?:heads|pilvi)\/(.+)$/.exec(ref)?.[1] ?? "";
}
