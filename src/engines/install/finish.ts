// The last step of every installation: try the engine, judge it, write its note, and give its folder the final name.
import { existsSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ForeignEngine } from "../../contracts/engine-names.ts";
import { syncFileSystem } from "../../lib/files.ts";
import { askVersion } from "../program-version.ts";
import type { DistributionPackage } from "../installed-engine.ts";
import { verdictOn } from "../safety/verdict.ts";
import { libraryEnv, loaderCommand, NOTE_FILE, type EngineNote } from "../store-folder.ts";
import { mustRun } from "./run.ts";

/** An engine in a folder whose name still ends in `.tmp`. */
export interface UnfinishedEngine {
  name: ForeignEngine;
  folder: string;
  /** The server program and the folders with libraries, relative to the folder. */
  program: string;
  libraryDirs: string[];
  /** The loader of the C library that came along, relative to the folder. */
  loader?: string;
  package?: DistributionPackage;
  /** How the extensions of a Postgres were arranged. */
  arrangement?: string;
}

/**
 * Adds the engine to the store.
 * @returns its version.
 * @throws Error when the program does not run, or comes from a package with known holes.
 */
export async function finishEngine(engine: UnfinishedEngine, enginesDir: string): Promise<string> {
  const { folder, ...rest } = engine;
  const { name, program, libraryDirs } = rest;
  // Each instance runs under its own user, which must be able to read the whole engine; no program needs set-uid here.
  await mustRun(["chmod", "-R", "u+rwX,go+rX,go-w,a-s", folder], enginesDir);
  const loader = loaderCommand(folder, rest);
  const env = loader.length === 0 ? libraryEnv(folder, libraryDirs) : {};
  const answer = await askVersion([...loader, join(folder, program)], env);
  if (answer?.name !== name) throw new Error(`the ${name} that was unpacked does not run on this system`);

  const { version } = answer;
  if (engine.package !== undefined) {
    const { warning, isUnsafe } = verdictOn({ ...rest, version, origin: "store" });
    if (isUnsafe) throw new Error(warning ?? "it has known holes");
  }
  const note: EngineNote = { ...rest, version };
  await writeFile(join(folder, NOTE_FILE), `${JSON.stringify(note, undefined, 2)}\n`, { mode: 0o644 });
  // A name that is on the disk before the files behind it would lead to empty files.
  await syncFileSystem(folder);
  // A patched package may have the version of its predecessor, which instances may still run.
  const label = engine.package?.version.replace(/^\d+:/, "") ?? version;
  const home = join(enginesDir, `${name}-${label}`);
  const former = `${home}.former.tmp`;
  if (existsSync(home)) await rename(home, former);
  await rename(folder, home);
  await rm(former, { recursive: true, force: true });
  return version;
}
