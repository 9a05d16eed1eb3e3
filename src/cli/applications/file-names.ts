// Names of files. Pilvi takes them as text; a file system takes any bytes.
import { lstatSync } from "node:fs";
import { CommandError } from "../failure.ts";

const UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** What nobody deploys on purpose, whether or not a `.gitignore` says so. */
export const NEVER_DEPLOYED: readonly string[] = [".git", "node_modules", ".DS_Store"];

/** Whether a path has such a name in it. */
export function isNeverDeployed(path: string): boolean {
  return path.split("/").some((name) => NEVER_DEPLOYED.includes(name));
}

/** Stands in a name for bytes that are no text. */
const REPLACEMENT = "\u{FFFD}";

/** A name as text; undefined when its bytes are none. */
export function textOfName(bytes: Uint8Array): string | undefined {
  try {
    return UTF_8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** @throws CommandError for a name that was read with replacements, which leads to no file. */
export function checkName(name: string, path: string): void {
  if (name.includes(REPLACEMENT) && statsOf(path) === undefined) throw nameRefusal(name);
}

export function nameRefusal(name: string): CommandError {
  return new CommandError(
    `The name of ${name} is not UTF-8, which Pilvi cannot take. Rename it, or leave it out with a .gitignore.`,
  );
}

/** What is at a path, without following a link; undefined where nothing is, also where a folder became a file. */
export function statsOf(path: string | Buffer) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOTDIR") return undefined;
    throw error;
  }
}
