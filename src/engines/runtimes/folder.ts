// The folder of the runtimes that Pilvi has fetched for applications.
import { join } from "node:path";

/** The folder of the runtimes that Pilvi has fetched. */
export function runtimesDir(enginesDir: string): string {
  return join(enginesDir, "runtimes");
}

/** Where a runtime is seen inside a sandbox. */
export const RUNTIME_PLACE = "/opt/runtime";
