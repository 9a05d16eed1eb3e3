// Lists the extensions that a customer can create in an installed Postgres, from the control files.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { InstalledEngine } from "../installed-engine.ts";

/** An extension, in the version that is created by default. */
export interface Extension {
  name: string;
  version: string;
}

/** A language that every database has from the start. */
const BUILT_IN = "plpgsql";

/** The extensions that a user without superuser rights may create, sorted by name. */
export function creatableExtensions(installed: InstalledEngine): Extension[] {
  const folder = folderOf(installed);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith(".control"))
    .map((file) => ({
      name: file.slice(0, -".control".length),
      text: readFileSync(join(folder, file), "utf8"),
    }))
    .filter(({ name, text }) => name !== BUILT_IN && valueOf(text, "trusted") === "true")
    .map(({ name, text }) => ({ name, version: valueOf(text, "default_version") ?? "" }))
    .sort((a, b) => a.name.localeCompare(b.name));
}

/** Distributions keep the shared files of a version apart from its folder of libraries. */
function folderOf({ origin, home, version }: InstalledEngine): string {
  if (origin === "store") return join(home, "share", "postgresql", "extension");
  return join("/usr/share/postgresql", version.split(".")[0] ?? "", "extension");
}

function valueOf(text: string, key: string): string | undefined {
  const [, value] = new RegExp(`^${key}\\s*=\\s*'?([^'\\n]*?)'?\\s*$`, "m").exec(text) ?? [];
  return value;
}
