// A file of an instance that names a process, for a later host.
import { writeFileSync } from "node:fs";

/** Writes the identity of a process into the file, unless the process has none. Never throws. */
export function noteIdentity(path: string, identity: string | null): void {
  if (identity === null) return;
  try {
    writeFileSync(path, `${identity}\n`, { mode: 0o600 });
  } catch {
    // The disk is full.
  }
}
