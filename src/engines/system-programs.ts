// Finds the server programs of the system, in the folders of PATH and where distributions keep them.
import { accessSync, constants, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { foreignEngines } from "../contracts/engine-names.ts";
import { programOf } from "./registry.ts";

/** Names of server programs, with the program that must stand beside each. */
const COMPANIONS = new Map(
  foreignEngines.flatMap((name) => {
    const { names, companion } = programOf(name);
    return names.map((file) => [file, companion] as const);
  }),
);
const SYSTEM_DIRS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/usr/libexec"];
/** Parents of folders whose name has a version in it: Debian's, then that of the Postgres project's RPMs. */
const VERSIONED_DIRS: [parent: string, prefix: string][] = [
  ["/usr/lib/postgresql", ""],
  ["/usr", "pgsql-"],
];

/** A server program, with the size and time that show whether the file has changed. */
export interface SystemProgram {
  path: string;
  size: number;
  mtimeMs: number;
}

/** All server programs of the system, each file once. */
export function systemPrograms(path: string): SystemProgram[] {
  const found = new Map<string, SystemProgram>();
  for (const folder of new Set([...foldersOfPath(path), ...SYSTEM_DIRS, ...versionedDirs()])) {
    for (const name of COMPANIONS.keys()) {
      const program = programAt(join(folder, name));
      const file = program === undefined ? "" : realpathSync(program.path);
      if (program !== undefined && !found.has(file)) found.set(file, program);
    }
  }
  return [...found.values()];
}

/** Leaves out the working directory: other users may write there, and must not choose the program that Pilvi runs. */
function foldersOfPath(path: string): string[] {
  const here = process.cwd() === "/" ? undefined : `${process.cwd()}/`;
  return path
    .split(":")
    .filter((folder) => isAbsolute(folder) && (here === undefined || !`${folder}/`.startsWith(here)));
}

function versionedDirs(): string[] {
  return VERSIONED_DIRS.flatMap(([parent, prefix]) => {
    try {
      const entries = readdirSync(parent).filter((entry) => entry.startsWith(prefix));
      return entries.map((entry) => join(parent, entry, "bin"));
    } catch {
      return [];
    }
  });
}

function programAt(path: string): SystemProgram | undefined {
  try {
    const { size, mtimeMs } = statSync(path);
    accessSync(path, constants.X_OK);
    const companion = COMPANIONS.get(basename(path));
    // A program without a companion keeps the name under which it was found: `redis-server` may be a link to a program
    // that depends on its own name.
    if (companion === undefined) return { path, size, mtimeMs };
    const program = realpathSync(path);
    accessSync(join(dirname(program), companion), constants.X_OK);
    return { path: program, size, mtimeMs };
  } catch {
    return undefined;
  }
}
