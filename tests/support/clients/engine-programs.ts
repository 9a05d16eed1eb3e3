// Programs that an installed engine brings beside its server, for example its command line.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { InstalledEngine } from "../../../src/engines/installed.ts";

/** The path of a program; for an engine with its own C library, the launcher that finds this library. */
export function enginePath({ program }: Pick<InstalledEngine, "program">, name: string): string {
  const launcher = join(dirname(program), "../../bin", name);
  return existsSync(launcher) ? launcher : join(dirname(program), name);
}
