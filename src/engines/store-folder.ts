// The folder of engines that Pilvi installed itself, with a note about each. An engine's folder gets its name only when
// all of it is on the disk, so every engine with a note can be used.
import { readdirSync, readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { foreignEngines } from "../contracts/engine-names.ts";
import { codeOf } from "../lib/errors.ts";
import { syncFileSystem } from "../lib/files.ts";
import type { FoundEngine } from "./installed.ts";

/** The file in an engine's folder that describes the engine. */
export const NOTE_FILE = "pilvi-engine.json";

/** What the note holds. Paths are relative to the engine's folder, so that the whole store can be moved. */
const engineNote = z.object({
  name: z.enum(foreignEngines),
  version: z.string(),
  program: z.string(),
  libraryDirs: z.array(z.string()),
  /** The loader of the C library that came along; left out by an engine that runs with the system's. */
  loader: z.string().optional(),
  /** The distribution's package that it came from; left out where it was not noted or does not exist. */
  package: z.object({ version: z.string(), release: z.string() }).optional(),
  /** How the extensions of a Postgres were arranged; left out where they are unchanged. */
  arrangement: z.string().optional(),
  /** The version of pgvector that was added, or that the attempt failed; left out before an attempt. */
  vector: z.string().optional(),
});

export type EngineNote = z.infer<typeof engineNote>;

/** All engines in the store; an entry without a readable note is skipped. */
export function enginesInStore(enginesDir: string): FoundEngine[] {
  return entriesOf(enginesDir).flatMap((entry) => {
    // Such an entry is being installed, or was when its installer was killed.
    if (entry.startsWith(".") || entry.endsWith(".tmp")) return [];
    const home = join(enginesDir, entry);
    const note = noteIn(home);
    return note === undefined ? [] : [engineOf(home, note)];
  });
}

/** The environment that an unpacked engine needs to find its libraries. */
export function libraryEnv(home: string, libraryDirs: string[]): Record<string, string> {
  if (libraryDirs.length === 0) return {};
  return { LD_LIBRARY_PATH: libraryDirs.map((folder) => join(home, folder)).join(":") };
}

/** The words before the program's path, for an engine with its own C library, which only that library's loader fits. */
export function loaderCommand(
  home: string,
  { loader, libraryDirs }: Pick<EngineNote, "loader" | "libraryDirs">,
) {
  if (loader === undefined) return [];
  const folders = libraryDirs.map((folder) => join(home, folder)).join(":");
  return [join(home, loader), "--inhibit-cache", "--library-path", folders];
}

function engineOf(home: string, note: EngineNote): FoundEngine {
  const loader = loaderCommand(home, note);
  const engine: FoundEngine = {
    name: note.name,
    version: note.version,
    origin: "store",
    program: join(home, note.program),
    home,
    // A loader gets the folders as an option, so that no program that the engine starts inherits them.
    env: loader.length === 0 ? libraryEnv(home, note.libraryDirs) : {},
  };
  if (loader.length > 0) engine.loader = loader;
  if (note.package !== undefined) engine.package = note.package;
  if (note.arrangement !== undefined) engine.arrangement = note.arrangement;
  if (note.vector !== undefined) engine.vector = note.vector;
  return engine;
}

/** Replaces members of an engine's note. */
export async function changeNote(home: string, change: Partial<EngineNote>): Promise<void> {
  const file = join(home, NOTE_FILE);
  const note = { ...engineNote.parse(JSON.parse(readFileSync(file, "utf8"))), ...change };
  await writeFile(`${file}.tmp`, `${JSON.stringify(note, undefined, 2)}\n`, { mode: 0o644 });
  // The note may say of other files that they were changed.
  await syncFileSystem(home);
  await rename(`${file}.tmp`, file);
}

function noteIn(home: string): EngineNote | undefined {
  try {
    return engineNote.parse(JSON.parse(readFileSync(join(home, NOTE_FILE), "utf8")));
  } catch {
    return undefined;
  }
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return [];
    throw error;
  }
}
