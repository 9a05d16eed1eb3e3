// Finds the programs that open sessions with databases: those of Pilvi's engines, and those of the system.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseProgram, Protocol } from "../../cli/index.ts";
import { foreignEngines } from "../../contracts/engine-names.ts";
import type { ForeignEngine } from "../../contracts/engine-names.ts";
import type { ClientProgram } from "../../engines/foreign-program.ts";
import { clientHint, readOsRelease } from "../../engines/install/hints.ts";
import { compareVersions } from "../../engines/versions.ts";
import { engineNamed, programOf } from "../../engines/registry.ts";
import { enginesInStore } from "../../engines/store-folder.ts";
import { Refusal } from "../../lib/errors.ts";

/**
 * Finds a program for a protocol.
 * @param path the folders to look in besides the store, as in `PATH`.
 * @throws Refusal when there is no such program, with the command that installs it.
 */
export function findDatabaseProgram(protocol: Protocol, enginesDir: string, path: string): DatabaseProgram {
  const engines = foreignEngines.filter((name) => engineNamed(name).protocol === protocol);
  for (const name of engines) {
    const { client } = programOf(name);
    if (client === undefined) continue;
    const program = inStore(name, client, enginesDir) ?? onPath(client.names, path);
    if (program !== undefined) return program;
    throw missing(name, client);
  }
  throw new Refusal(`No engine of Pilvi speaks ${protocol}.`);
}

/** The client that came with the newest engine of the store; undefined when that engine came without a client. */
function inStore(
  engine: ForeignEngine,
  { stored }: ClientProgram,
  enginesDir: string,
): DatabaseProgram | undefined {
  if (stored === undefined) return undefined;
  const programs = enginesInStore(enginesDir)
    .filter(({ name }) => name === engine)
    .sort((a, b) => compareVersions(b.version, a.version))
    .map(({ home, env }) => ({ path: join(home, stored), env }));
  return programs.find(({ path }) => existsSync(path));
}

function onPath(names: string[], path: string): DatabaseProgram | undefined {
  const found = names.map((name) => Bun.which(name, { PATH: path })).find((program) => program !== null);
  return found === undefined ? undefined : { path: found, env: {} };
}

function missing(engine: ForeignEngine, { names }: ClientProgram): Refusal {
  const command = clientHint(engine, readOsRelease());
  const advice = command === undefined ? "Install one." : `Install it with: ${command}`;
  return new Refusal(`There is no ${names.join(" or ")} on this machine. ${advice}`);
}
