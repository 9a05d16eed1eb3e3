// The last step of every installation: try the engine, write its note, and give its folder the final name.
import { existsSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ForeignEngine } from "../../drivers/driver.ts";
import { askVersion } from "../program-version.ts";
import { libraryEnv, NOTE_FILE, type EngineNote } from "../store-folder.ts";
import { mustRun } from "./run.ts";

/** An engine that was put into a folder under a name that ends in `.tmp`. */
export interface UnfinishedEngine {
  name: ForeignEngine;
  folder: string;
  /** The server program and the folders with libraries, relative to the folder. */
  program: string;
  libraryDirs: string[];
}

/**
 * Makes the engine one of the store's.
 * @returns its version.
 * @throws Error when the program does not run.
 */
export async function finishEngine(engine: UnfinishedEngine, enginesDir: string): Promise<string> {
  const { name, folder, program, libraryDirs } = engine;
  // Every instance has a user of its own, who must be able to read all of it; packages do not need to be set-uid here.
  await mustRun(["chmod", "-R", "u+rwX,go+rX,go-w,a-s", folder], enginesDir);
  const answer = await askVersion(join(folder, program), libraryEnv(folder, libraryDirs));
  if (answer?.name !== name) throw new Error(`the ${name} that was unpacked does not run on this system`);

  const note: EngineNote = { name, version: answer.version, program, libraryDirs };
  await writeFile(join(folder, NOTE_FILE), `${JSON.stringify(note, undefined, 2)}\n`, { mode: 0o644 });
  const home = join(enginesDir, `${name}-${answer.version}`);
  if (existsSync(home)) await rm(home, { recursive: true });
  await rename(folder, home);
  return answer.version;
}
