// Arranges which extensions the store's Postgres offers to customers: some are removed, some are opened to them.
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { syncFile } from "../../lib/files.ts";

/** Changes with the arrangement, so that an installed Postgres is arranged anew. */
export const ARRANGEMENT = "1";

/** The folders of extensions and of their libraries, relative to the engine's folder. */
export const EXTENSION_DIR = join("share", "postgresql", "extension");
export const LIBRARY_DIR = join("lib", "postgresql");

/**
 * PL/Tcl can wait in a way that neither a timeout nor the administrator ends; PL/Perl and PL/Python lack the libraries
 * that they are linked with. The extensions that convert types for these languages go with them.
 */
const LANGUAGES = /^(?:\w+_)?pl(?:tcl|perl|python)/;

/**
 * Extensions that only a superuser may create unless their control file trusts others. Their scripts use no object that
 * a customer could have planted, and their functions check the caller's rights.
 */
const TRUSTED = ["bloom", "earthdistance", "moddatetime", "pg_prewarm"];

/** These functions would start a process that nobody stops and that writes into the data folder. */
const WITHOUT_WORKER = {
  script: "pg_prewarm--1.1--1.2.sql",
  statements: "REVOKE ALL ON FUNCTION autoprewarm_start_worker(), autoprewarm_dump_now() FROM PUBLIC;",
};

/** Makes all changes; can be repeated, also while clusters run with the engine. @param home the engine's folder. */
export async function arrangeExtensions(home: string): Promise<void> {
  for (const folder of [EXTENSION_DIR, LIBRARY_DIR]) {
    const unwanted = (await readdir(join(home, folder))).filter((name) => LANGUAGES.test(name));
    for (const name of unwanted) await rm(join(home, folder, name), { force: true });
  }
  const { script, statements } = WITHOUT_WORKER;
  await addLine(join(home, EXTENSION_DIR, script), statements);
  for (const name of TRUSTED) {
    await addLine(join(home, EXTENSION_DIR, `${name}.control`), "trusted = true");
  }
}

/** Adds a line at the end unless it is there. */
async function addLine(path: string, line: string): Promise<void> {
  const text = await readFile(path, "utf8");
  if (text.includes(line)) return;
  await writeFile(`${path}.tmp`, `${text.trimEnd()}\n${line}\n`, { mode: 0o644 });
  await syncFile(`${path}.tmp`);
  await rename(`${path}.tmp`, path);
}
