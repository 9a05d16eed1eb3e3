// An engine that is installed on this machine, by Pilvi or by others.
import type { EngineName } from "../contracts/engine-names.ts";

/** An installed package of a distribution. */
export interface DistributionPackage {
  /** The full version, as dpkg has it. */
  version: string;
  /** The codename of the release that it is made for, such as `bookworm`. */
  release: string;
}

/** An engine on this machine. */
export interface InstalledEngine {
  name: EngineName;
  /** For example "8.0.1" or "18.4". */
  version: string;
  /** `store`: Pilvi installed it. `system`: the machine has it. `pilvi`: it is a part of Pilvi. */
  origin: "store" | "system" | "pilvi";
  /** The absolute path of the server program. */
  program: string;
  /** The engine's root folder in the store, or the folder of the program in the system. */
  home: string;
  /** Environment variables that the program needs. */
  env: Record<string, string>;
  /** The script for a program that is an interpreter; an absolute path. */
  script?: string;
  /** The loader that starts the program, with its options, for an engine with a C library of its own. */
  loader?: string[];
  /** The distribution's package that it came from, where known. */
  package?: DistributionPackage;
  /** How the installation arranged the extensions of a Postgres. */
  arrangement?: string;
  /** The version of pgvector that the installation added, or that the attempt failed. */
  vector?: string;
}

/** The words that start the program, before its own arguments. */
export function commandOf({ loader = [], program }: InstalledEngine): string[] {
  return [...loader, program];
}
