// Finds the programs that open sessions with databases: psql of the system, and a MySQL client of Pilvi's own or the system.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseProgram } from "../../cli/index.ts";
import { installHint, readOsRelease } from "../../engines/install/hints.ts";
import { compareVersions } from "../../engines/program-version.ts";
import { enginesInStore } from "../../engines/store-folder.ts";
import { Refusal } from "../../lib/errors.ts";

/**
 * Finds a program for a protocol.
 * @param path the folders to look in besides the store, as in `PATH`.
 * @throws Refusal with the command that installs one when there is none.
 */
export function findDatabaseProgram(
  protocol: "postgres" | "mysql",
  enginesDir: string,
  path: string,
): DatabaseProgram {
  if (protocol === "postgres") return onPath(["psql"], path) ?? missing("psql", "postgres-client");
  return (
    inStore(enginesDir) ?? onPath(["mariadb", "mysql"], path) ?? missing("mariadb or mysql", "mariadb-client")
  );
}

/** The client that came with the newest MariaDB of the store. Postgres is stored without one. */
function inStore(enginesDir: string): DatabaseProgram | undefined {
  const programs = enginesInStore(enginesDir)
    .filter(({ name }) => name === "mariadb")
    .sort((a, b) => compareVersions(b.version, a.version))
    .map(({ home, env }) => ({ path: join(home, "usr/bin/mariadb"), env }));
  return programs.find(({ path }) => existsSync(path));
}

function onPath(names: string[], path: string): DatabaseProgram | undefined {
  const found = names.map((name) => Bun.which(name, { PATH: path })).find((program) => program !== null);
  return found === undefined ? undefined : { path: found, env: {} };
}

function missing(program: string, packageName: "postgres-client" | "mariadb-client"): never {
  const command = installHint(packageName, readOsRelease());
  const advice = command === undefined ? "Install one." : `Install it with: ${command}`;
  throw new Refusal(`There is no ${program} on this machine. ${advice}`);
}
