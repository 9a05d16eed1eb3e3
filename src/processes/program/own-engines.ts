// The engines that are a part of Pilvi, described to the host like installed engines.
import { dirname } from "node:path";
import packageJson from "../../../package.json" with { type: "json" };
import type { InstalledEngine } from "../../engines/installed.ts";
import type { Program } from "./program.ts";

/** The realtime server of this Pilvi; the path changes with every build, so it is never kept. */
export function realtimeEngine({ bun, realtime }: Program): InstalledEngine {
  return {
    name: "realtime",
    version: packageJson.version,
    origin: "pilvi",
    program: bun,
    home: dirname(realtime),
    env: {},
    script: realtime,
  };
}

/** What runs applications: their own programs, or the Bun of this Pilvi. */
export function applicationEngine({ bun }: Pick<Program, "bun">): InstalledEngine {
  return {
    name: "application",
    version: packageJson.version,
    origin: "pilvi",
    program: bun,
    home: dirname(bun),
    env: {},
  };
}
