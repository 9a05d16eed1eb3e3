// Finds the engines that instances can be run with: those that Pilvi installed and those of the system.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import type { EngineName, ForeignEngine } from "../drivers/driver.ts";
import { askVersion, compareVersions } from "./program-version.ts";
import { compareDebianVersions } from "./safety/debian-version.ts";
import { type DistributionPackage, verdictOn } from "./safety/verdict.ts";
import { enginesInStore } from "./store-folder.ts";
import { systemPrograms, type SystemProgram } from "./system-programs.ts";

/** An engine on this machine. */
export interface InstalledEngine {
  name: EngineName;
  /** For example "8.0.1" or "18.4". */
  version: string;
  /** `store` for one that Pilvi installed, `system` for one that the machine has, `pilvi` for one that is a part of it. */
  origin: "store" | "system" | "pilvi";
  /** The absolute path of the server program. */
  program: string;
  /** The engine's root folder in the store, or the folder of the program for one of the system. */
  home: string;
  /** What the program needs in its environment to run. */
  env: Record<string, string>;
  /** What the program runs, when it is an interpreter; an absolute path. */
  script?: string;
  /** What the program is started by, with its options, when it brings a C library of its own. */
  loader?: string[];
  /** The distribution's package that it came out of, where that is known. */
  package?: DistributionPackage;
  /** How the installation arranged the extensions of a Postgres. */
  arrangement?: string;
  /** The version of pgvector that the installation added, or that this failed. */
  vector?: string;
}

/** The words that the program is started with, before its own arguments. */
export function commandOf({ loader = [], program }: InstalledEngine): string[] {
  return [...loader, program];
}

/** One that was found by looking for it, while Pilvi's own needs no looking for. */
export interface FoundEngine extends InstalledEngine {
  name: ForeignEngine;
  origin: "store" | "system";
}

/** Older ones lack what Pilvi relies on, such as access lists with hashed passwords, or get no fixes any more. */
const OLDEST_VERSIONS: Record<ForeignEngine, string> = {
  valkey: "7.2",
  redis: "6.2",
  postgres: "14",
  mysql: "8.0",
  mariadb: "10.6",
};

/** What programs of the system said of themselves, by path, with what the file was like then. */
const remembered = z.record(
  z.string(),
  z.object({
    size: z.number(),
    mtimeMs: z.number(),
    name: z.enum(["valkey", "redis", "postgres", "mysql", "mariadb"]),
    version: z.string(),
  }),
);

type Remembered = z.infer<typeof remembered>;

/**
 * The engines of this machine: those of Pilvi's own store first, then those of the system; of each, those that are known to have
 * holes last, and newer versions before older ones. So the first one of a name is the one to take. What cannot be run is passed over.
 */
export async function findEngines(enginesDir: string): Promise<FoundEngine[]> {
  const engines = [...enginesInStore(enginesDir), ...(await enginesOfSystem(enginesDir))];
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

/** Those of the engines of this machine that Pilvi can run instances with, in the same order. */
export async function usableEngines(enginesDir: string): Promise<FoundEngine[]> {
  return (await findEngines(enginesDir)).filter(isGoodEnough);
}

/** Whether Pilvi can run instances with the engine. */
export function isGoodEnough(engine: FoundEngine): boolean {
  return compareVersions(engine.version, OLDEST_VERSIONS[engine.name]) >= 0;
}

async function enginesOfSystem(enginesDir: string): Promise<FoundEngine[]> {
  const memoryFile = join(enginesDir, "system.json");
  const known = recall(memoryFile);
  const answers = await Promise.all(
    systemPrograms(process.env.PATH ?? "").map((program) => recognise(program, known)),
  );
  const now = Object.fromEntries(answers.filter((answer) => answer !== undefined));
  if (!Bun.deepEquals(now, known)) remember(memoryFile, now);
  return Object.entries(now).map(([program, { name, version }]) => ({
    name,
    version,
    origin: "system" as const,
    program,
    home: dirname(program),
    env: {},
  }));
}

/** Asks a program for its version unless the very same file was asked before. */
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

/** Remembering only saves time, so a folder that cannot be written to, or is not there yet, is fine. */
function remember(memoryFile: string, answers: Remembered): void {
  const unfinished = `${memoryFile}.${process.pid}`;
  try {
    writeFileSync(unfinished, JSON.stringify(answers), { mode: 0o644 });
    renameSync(unfinished, memoryFile);
  } catch {
    // Asked again the next time.
  }
}
