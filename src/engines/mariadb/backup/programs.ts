// The programs that copy and restore the data of a MariaDB. They come in a package of their own.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { PublicError } from "../../../lib/errors.ts";
import type { InstalledEngine } from "../../installed-engine.ts";

/** Beside a server of the system, which may lie in `/usr/sbin`. */
const SYSTEM_FOLDERS = ["/usr/bin", "/usr/local/bin"];

/**
 * The words that start a backup program of an engine.
 * @throws PublicError when it is not installed.
 */
export function backupProgram(installed: InstalledEngine, name: "mariadb-backup" | "mbstream"): string[] {
  const folders = installed.origin === "store" ? [join(installed.home, "usr/bin")] : SYSTEM_FOLDERS;
  const path = folders.map((folder) => join(folder, name)).find((each) => existsSync(each));
  if (path !== undefined) return [...(installed.loader ?? []), path];
  throw new PublicError(`The program ${name} is not installed on this host. Run: pilvi engines install`);
}
