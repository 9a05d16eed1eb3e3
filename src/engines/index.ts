// The engines that the host can run.
import type { EngineName, InstanceSpec } from "../drivers/driver.ts";
import type { Engine } from "./engine.ts";
import { mariadb } from "./mariadb/index.ts";
import { type InstalledEngine, usableEngines } from "./installed.ts";
import { postgres } from "./postgres/index.ts";
import { realtime } from "./realtime/index.ts";
import { redis } from "./redis/index.ts";
import { valkey } from "./valkey/index.ts";

const engines = { mariadb, postgres, realtime, redis, valkey };

/** Where the host's engines come from. */
export interface EngineSources {
  /** Where Pilvi installs engines of others. */
  enginesDir: string;
  /** Engines that are a part of Pilvi. */
  ownEngines: InstalledEngine[];
}

/** The engines of this machine that the host knows how to run, the preferred one of each name first. */
export async function runnableEngines({ enginesDir, ownEngines }: EngineSources): Promise<InstalledEngine[]> {
  return [...ownEngines, ...(await usableEngines(enginesDir))].filter(
    ({ name }) => engineNamed(name) !== undefined,
  );
}

/** The engine of a name, when the host can run it. */
export function engineNamed(name: EngineName): Engine | undefined {
  // Whoever runs an engine passes it specs of its own kind only, which the type of a table cannot say.
  return name in engines ? (engines[name as keyof typeof engines] as unknown as Engine) : undefined;
}

/** The engine of a name, when the host can run it and it fits the kind of the spec. */
export function engineFor(name: EngineName, kind: InstanceSpec["kind"]): Engine | undefined {
  const engine = engineNamed(name);
  return engine?.kind === kind ? engine : undefined;
}
