// The runtimes that applications can have on this machine.
import type { AvailableRuntimes } from "../../contracts/plan.ts";
import { hasOwnPlaces, type Sandbox } from "../sandbox/sandbox.ts";
import { DENO_VERSION } from "./deno.ts";
import { offeredNodes } from "./node.ts";
import { offeredPhps } from "./php.ts";
import { findPython } from "./python.ts";

/**
 * The versions of each runtime; none of a runtime that could not run here. A version of Node.js or PHP that is not fetched
 * yet is the least that a fetch brings.
 */
export async function offeredRuntimes(
  enginesDir: string,
  sandbox: Pick<Sandbox, "level">,
): Promise<AvailableRuntimes> {
  const isWhole = hasOwnPlaces(sandbox);
  // An environment of packages has its own path in its programs, and only this sandbox keeps the path of the build.
  const python = isWhole ? await findPython() : null;
  return {
    node: offeredNodes(enginesDir),
    bun: [Bun.version],
    deno: isWhole ? [DENO_VERSION] : [],
    php: isWhole ? offeredPhps(enginesDir) : [],
    python: python === null ? [] : [python.version],
  };
}
