// The sources of the web console, and the name of the build that they make.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { sha256Hex } from "../../lib/secrets.ts";
import { CHECKOUT_DIR } from "../program/checkout.ts";

/** The folders whose files are built into the console, or build it. */
const FOLDERS = ["src/console", "src/sdk", "src/processes/console"];

/** Where builds are kept, if the checkout can be written. */
export const BUILDS_DIR = join(CHECKOUT_DIR, "node_modules/.cache/pilvi-console");

/** The folder of a kind's pages, below the folder of the kind. */
const PAGES = "console";

/** All folders with pages, as absolute paths. */
export function pageFolders(): string[] {
  const slices = readdirSync(join(CHECKOUT_DIR, "src/resources"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(CHECKOUT_DIR, "src/resources", name, PAGES));
  return [join(CHECKOUT_DIR, "src/console"), ...slices];
}

/** The name of the build: the same sources, packages and Bun have the same name. Takes some milliseconds. */
export function buildName(): string {
  const folders = new Set([...FOLDERS.map((folder) => join(CHECKOUT_DIR, folder)), ...pageFolders()]);
  const files = [...folders].flatMap(filesBelow).toSorted();
  const contents = [...files, join(CHECKOUT_DIR, "package-lock.json")].map(
    (path) => `${relative(CHECKOUT_DIR, path)} ${sha256Hex(readFileSync(path))}`,
  );
  return sha256Hex([Bun.version, ...contents].join("\n")).slice(0, 16);
}

/** A kind may have no pages yet. */
function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
}
