// Finds the engines for instances, both the engines that Pilvi installed and the engines of the system.
import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { foreignEngines } from "../contracts/engine-names.ts";
import type { ForeignEngine } from "../contracts/engine-names.ts";
import type { InstalledEngine } from "./installed-engine.ts";
import { askVersion } from "./program-version.ts";
import { compareVersions } from "./versions.ts";
import { compareDebianVersions } from "./safety/debian-version.ts";
import { programOf } from "./registry.ts";
import { verdictOn } from "./safety/verdict.ts";
import { enginesInStore } from "./store-folder.ts";
import { systemPrograms, type SystemProgram } from "./system-programs.ts";

export { commandOf, type InstalledEngine } from "./installed-engine.ts";

/** An engine that a search has found; Pilvi's own engine needs no search. */
export interface FoundEngine extends InstalledEngine {
  name: ForeignEngine;
  origin: "store" | "system";
}

/** The file of an engine's program, by which a change of it is noticed. */
type ProgramFile = Pick<SystemProgram, "size" | "mtimeMs">;

/** The files of the programs that searches have found, as they were before each was asked; null for a missing file. */
const foundFiles = new WeakMap<InstalledEngine, ProgramFile | null>();

/** The answers of the system's programs to `--version`, by path, with the size and time of the file. */
const remembered = z.record(
  z.string(),
  z.object({
    size: z.number(),
    mtimeMs: z.number(),
    name: z.enum(foreignEngines),
    version: z.string(),
  }),
);

type Remembered = z.infer<typeof remembered>;

/**
 * The engines of this machine: the store's first, then the system's; within each, engines with known holes last, and
 * newer versions before older versions. So the first engine of a name is the preferred one. A program that cannot run
 * is skipped.
 */
export async function findEngines(enginesDir: string): Promise<FoundEngine[]> {
  const stored = enginesInStore(enginesDir);
  for (const engine of stored) foundFiles.set(engine, fileOf(engine));
  const engines = [...stored, ...(await enginesOfSystem(enginesDir))];
  const today = new Date();
  const unsafe = new Set(engines.filter((engine) => verdictOn(engine, today).isUnsafe));
  return engines.sort(
    (a, b) =>
      a.origin.localeCompare(b.origin) ||
      Number(unsafe.has(a)) - Number(unsafe.has(b)) ||
      compareVersions(b.version, a.version) ||
      compareDebianVersions(b.package?.version ?? "", a.package?.version ?? ""),
  );
}

/** The engines of this machine that Pilvi can run instances with, in the same order. */
export async function usableEngines(enginesDir: string): Promise<FoundEngine[]> {
  return (await findEngines(enginesDir)).filter(isGoodEnough);
}

/** Whether Pilvi can run instances with the engine. */
export function isGoodEnough(engine: FoundEngine): boolean {
  return compareVersions(engine.version, programOf(engine.name).oldestVersion) >= 0;
}

/** Whether the program of an engine is the file that the search found; also where no search found it. One look-up. */
export function isAsFound(engine: InstalledEngine): boolean {
  const found = foundFiles.get(engine);
  if (found === undefined) return true;
  const file = fileOf(engine);
  return file?.size === found?.size && file?.mtimeMs === found?.mtimeMs;
}

function fileOf({ program }: InstalledEngine): ProgramFile | null {
  try {
    return statSync(program);
  } catch {
    return null;
  }
}

async function enginesOfSystem(enginesDir: string): Promise<FoundEngine[]> {
  const memoryFile = join(enginesDir, "system.json");
  const known = recall(memoryFile);
  const answers = await Promise.all(
    systemPrograms(process.env.PATH ?? "").map((program) => recognise(program, known)),
  );
  const now = Object.fromEntries(answers.filter((answer) => answer !== undefined));
  if (!Bun.deepEquals(now, known)) remember(memoryFile, now);
  return Object.entries(now).map(([program, { name, version, ...file }]) => {
    const home = dirname(program);
    const engine: FoundEngine = { name, version, origin: "system", program, home, env: {} };
    foundFiles.set(engine, file);
    return engine;
  });
}

/** Asks a program for its version unless the same file has answered before. */
async function recognise(
  { path, size, mtimeMs }: SystemProgram,
  known: Remembered,
): Promise<[string, Remembered[string]] | undefined> {
  const before = known[path];
  if (before?.size === size && before.mtimeMs === mtimeMs) return [path, before];
  const answer = await askVersion([path], {});
  return answer === undefined ? undefined : [path, { size, mtimeMs, ...answer }];
}

function recall(memoryFile: string): Remembered {
  try {
    return remembered.parse(JSON.parse(readFileSync(memoryFile, "utf8")));
  } catch {
    return {};
  }
}

/** The file only saves time, so a folder that is missing or cannot be written to is fine. */
function remember(memoryFile: string, answers: Remembered): void {
  const unfinished = `${memoryFile}.${process.pid}`;
  try {
    writeFileSync(unfinished, JSON.stringify(answers), { mode: 0o644 });
    renameSync(unfinished, memoryFile);
  } catch {
    // The next search asks again.
  }
}
