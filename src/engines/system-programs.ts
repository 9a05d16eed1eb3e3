// Finds server programs that the system has, in the folders of PATH and where distributions keep them.
import { accessSync, constants, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";

const PROGRAM_NAMES = ["valkey-server", "redis-server", "postgres", "mariadbd", "mysqld"];
const SYSTEM_DIRS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/usr/libexec"];
/** Parents of folders whose name has a version in it: Debian's, then that of the Postgres project's RPMs. */
const VERSIONED_DIRS: [parent: string, prefix: string][] = [
  ["/usr/lib/postgresql", ""],
  ["/usr", "pgsql-"],
];

/** A server program and what tells that it is still the same file. */
export interface SystemProgram {
  path: string;
  size: number;
  mtimeMs: number;
}

/** All server programs of the system, each file once. */
export function systemPrograms(path: string): SystemProgram[] {
  const found = new Map<string, SystemProgram>();
  for (const folder of new Set([...foldersOfPath(path), ...SYSTEM_DIRS, ...versionedDirs()])) {
    for (const name of PROGRAM_NAMES) {
      const program = programAt(join(folder, name));
      const file = program === undefined ? "" : realpathSync(program.path);
      if (program !== undefined && !found.has(file)) found.set(file, program);
    }
  }
  return [...found.values()];
}

/** Whoever can write to the folder that Pilvi happens to be started in must not choose what it runs. */
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
    if (basename(path) !== "postgres") return { path, size, mtimeMs };
    // Postgres is of use only together with the `initdb` beside it. The other programs keep the name they were found by,
    // because `redis-server` may be a link to a program that looks at the name it is called by.
    const program = realpathSync(path);
    accessSync(join(dirname(program), "initdb"), constants.X_OK);
    return { path: program, size, mtimeMs };
  } catch {
    return undefined;
  }
}
