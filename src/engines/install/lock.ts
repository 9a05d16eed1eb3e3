// Lets one installer at a time work on the folder of engines.
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { tryLock } from "../../lib/libc.ts";

const RETRY_MS = 100;

/** Does the work while it holds the folder; waits, and says so once, while another installer holds it. */
export async function withFolderLocked<T>(
  enginesDir: string,
  progress: (line: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  const fd = openSync(join(enginesDir, ".lock"), "a", 0o644);
  try {
    if (!tryLock(fd)) {
      progress("waiting for another installer");
      while (!tryLock(fd)) await Bun.sleep(RETRY_MS);
    }
    return await work();
  } finally {
    closeSync(fd);
  }
}
