// Named places where a test may stop a process, to kill it just there. Left out of every build but a test's.
import { existsSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";

declare const PILVI_FAILPOINTS: boolean;

/**
 * Waits here when a test asked for it, and does nothing otherwise.
 *
 * The test names one point by a file `armed.NAME` in the folder `PILVI_FAILPOINT_DIR`. The first process to come by writes
 * `reached`, with its pid, and goes on when `released` appears, if it still lives then.
 */
export async function failpoint(name: string): Promise<void> {
  if (typeof PILVI_FAILPOINTS === "undefined" || !PILVI_FAILPOINTS) return;
  const folder = process.env.PILVI_FAILPOINT_DIR;
  if (folder === undefined || !isArmed(folder, name)) return;
  await new Promise<void>((resolve) => {
    const goOn = () => {
      if (!existsSync(join(folder, "released"))) return;
      watcher.close();
      resolve();
    };
    const watcher = watch(folder, goOn);
    writeFileSync(join(folder, "reached"), String(process.pid));
    goOn();
  });
}

function isArmed(folder: string, name: string): boolean {
  return existsSync(join(folder, `armed.${name}`)) && !existsSync(join(folder, "reached"));
}
