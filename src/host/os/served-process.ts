// Which process of an instance has taken connections, so that a later host that finds it need not judge it anew.
import { readFileSync } from "node:fs";
import type { InstanceFolder } from "./layout.ts";
import { noteIdentity } from "./process-note.ts";
import { identityOf } from "./process-times.ts";

type Served = Pick<InstanceFolder, "served">;

/** Notes that a process takes connections. Never throws: without the note, a later host waits for it as for a start. */
export function noteServed({ served }: Served, pid: number): void {
  noteIdentity(served, identityOf(pid));
}

/** Whether it was noted of this process, and of no former with its number. */
export function hasServed({ served }: Served, pid: number): boolean {
  try {
    return readFileSync(served, "utf8") === `${identityOf(pid)}\n`;
  } catch {
    return false;
  }
}
