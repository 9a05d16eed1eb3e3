// An engine that is installed on this machine, whoever installed it.
import type { EngineName } from "../drivers/driver.ts";

/** A package of a distribution, as it is installed. */
export interface DistributionPackage {
  /** In full, as dpkg has it. */
  version: string;
  /** The codename of the release that it is made for, such as `bookworm`. */
  release: string;
}

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
