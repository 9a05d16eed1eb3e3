// The engines of this machine, and what the host knows of them.
import type { InstalledEngine } from "./installed-engine.ts";
import { usableEngines } from "./installed.ts";

export { engineFor, engineNamed, majorOf } from "./registry.ts";

/** Where the host's engines come from. */
export interface EngineSources {
  /** Where Pilvi installs engines of others. */
  enginesDir: string;
  /** Engines that are a part of Pilvi. */
  ownEngines: InstalledEngine[];
}

/** The engines of this machine, the preferred engine of each name first. */
export async function runnableEngines({ enginesDir, ownEngines }: EngineSources): Promise<InstalledEngine[]> {
  return [...ownEngines, ...(await usableEngines(enginesDir))];
}
