// Named places where a test may stop a process, to kill it there. Only the build of a test has them.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

declare const PILVI_FAILPOINTS: boolean;

/** The folder is polled, because Bun's watch of a folder misses an event that comes right after another. */
const LOOK_INTERVAL_MS = 5;

/**
 * Waits here when a test asked for it, and does nothing otherwise.
 *
 * The test arms a fail point by a file `armed.NAME` in the folder `PILVI_FAILPOINT_DIR`. The first process that reaches
 * it writes `reached`, with its pid, and goes on when the test removes `armed.NAME`, if the process still lives then.
 *
 * @param work the work under way, where many come to the place; the lines of the file are kinds and ids that pass.
 */
export async function failpoint(name: string, work?: { kind: string; id: string }): Promise<void> {
  if (typeof PILVI_FAILPOINTS === "undefined" || !PILVI_FAILPOINTS) return;
  const folder = process.env.PILVI_FAILPOINT_DIR;
  if (folder === undefined) return;
  const armed = join(folder, `armed.${name}`);
  const passing = textOf(armed)?.split("\n");
  if (passing === undefined) return;
  if (work !== undefined && (passing.includes(work.kind) || passing.includes(work.id))) return;
  if (!wasFirst(join(folder, "reached"))) return;
  while (existsSync(armed)) await Bun.sleep(LOOK_INTERVAL_MS);
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** Only the first of several processes makes the file. */
function wasFirst(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    return false;
  }
}
