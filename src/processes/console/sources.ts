// The sources of the web console, and the name of the build that they make.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { CHECKOUT_DIR } from "../program/checkout.ts";
import { buildName } from "../program/kept-builds.ts";

/** The folders whose files are built into the console, or build it. */
const FOLDERS = ["src/console", "src/sdk", "src/processes/console"];

/** The folder of a kind's pages, below the folder of the kind. */
const PAGES = "console";

/** All folders with pages, as absolute paths. */
export function pageFolders(): string[] {
  const slices = readdirSync(join(CHECKOUT_DIR, "src/resources"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(CHECKOUT_DIR, "src/resources", name, PAGES));
  return [join(CHECKOUT_DIR, "src/console"), ...slices];
}

/** The name of the console's build. Takes some milliseconds. */
export function consoleName(): string {
  return buildName([...FOLDERS.map((folder) => join(CHECKOUT_DIR, folder)), ...pageFolders()]);
}
