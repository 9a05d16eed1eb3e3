// The lock of what writes in a repository beside pushes. Git inherits it, so a later process sees a git that has outlived
// the process that started it.
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { tryLock } from "../lib/libc.ts";

const FILE = "pilvi-writing";

/** An open file with the lock; only one at a time in this process. */
export class WriteLock implements Disposable {
  readonly fd: number;
  /** False while a git still writes that an earlier process has started. */
  readonly isFree: boolean;

  constructor(repository: string) {
    this.fd = openSync(join(repository, FILE), "a", 0o600);
    this.isFree = tryLock(this.fd);
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
  }
}
