// Which process of an instance the journal has recorded last, by the kernel: the clock may be set while a host is away.
import { readIfPresent } from "../../lib/files.ts";
import { noteIdentity } from "./process-note.ts";
import { lastingIdentityOf } from "./process-times.ts";

/** The note of one instance. */
export class RecordedProcess {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Notes a process. Never throws: without the note, a later host compares times. */
  note(pid: number): void {
    noteIdentity(this.#path, lastingIdentityOf(pid));
  }

  /** Whether the note is of this process; null when it is of no process with that number. */
  isOf(pid: number): boolean | null {
    const [noted = "", end] = (readIfPresent(this.#path) ?? "").split("\n");
    if (end === undefined || noted.split(" ")[1] !== String(pid)) return null;
    return noted === lastingIdentityOf(pid);
  }
}
