// Programs that an installed engine brings beside its server, such as its command line.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { InstalledEngine } from "../../../src/engines/installed.ts";

/** The path of a program: of an engine with a C library of its own, the launcher that finds this library. */
export function enginePath({ program }: Pick<InstalledEngine, "program">, name: string): string {
  const launcher = join(dirname(program), "../../bin", name);
  return existsSync(launcher) ? launcher : join(dirname(program), name);
}
