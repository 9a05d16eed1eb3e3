// What the host writes into its journal of one instance: the life of its processes, its sleep, and what went wrong.
import type { JournalRecord } from "../../contracts/journal.ts";
import type { Observation, Wake } from "../../drivers/driver.ts";
import { startedAt } from "../os/process-times.ts";
import type { Journal } from "./journal.ts";

/** By how much two readings of when one process started may differ. */
const SAME_PROCESS_MS = 2_000;

/** What is said of an engine that was killed for want of room on the disk, or could not be started for it. */
export const DISK_IS_FULL = "The disk of the host is full.";

type Appendable = Pick<Journal, "append" | "openRun" | "formerAliveAt">;

/** A process of an engine; `exited` resolves when it has ended. */
interface EngineProcess {
  pid: number;
  exited: Promise<void>;
}

/** Where a runner writes the life of its processes. */
export type RunnerJournal = Pick<ProcessJournal, "started" | "ended" | "found" | "noteOomKills">;

/** The life of its processes. */
export class ProcessJournal {
  readonly #journal: Appendable;
  readonly #id: string;
  #hasCrashed = false;
  /** When the latest process ended; that is told when all that it left behind has ended as well. */
  #endedAt: Date | null = null;
  #oomKills = 0;

  constructor(journal: Appendable, id: string) {
    this.#journal = journal;
    this.#id = id;
  }

  /** The engine has a process. */
  started(process: EngineProcess): void {
    const { pid } = process;
    this.#watch(process);
    this.#append(this.#hasCrashed ? "restarted" : "started", { pid }, new Date());
    this.#hasCrashed = false;
  }

  /** The process has ended. */
  ended(how: "stopped" | "crashed"): void {
    if (this.#journal.openRun(this.#id) === undefined) return;
    this.#hasCrashed = how === "crashed";
    this.#append(how, {}, this.#endedAt ?? new Date());
  }

  /** A host has started, and found this process; null for none. What happened while there was no host comes in now. */
  found(process: EngineProcess | null): void {
    const pid = process?.pid ?? null;
    if (process !== null) this.#watch(process);
    const open = this.#journal.openRun(this.#id);
    const beganAt = pid === null ? null : startedAt(pid);
    const isSame =
      open?.pid === pid &&
      beganAt !== null &&
      Math.abs(beganAt.getTime() - Date.parse(open.at)) < SAME_PROCESS_MS;
    if (isSame) return;
    if (open !== undefined) this.#endedUnseen(open.at, beganAt ?? new Date());
    if (pid !== null && beganAt !== null) this.#append("started", { pid }, beganAt);
  }

  /** How many of its processes the kernel has ended for want of memory. */
  noteOomKills(kills: number): number {
    if (kills > this.#oomKills) this.#append("out_of_memory", {}, new Date());
    this.#oomKills = kills;
    return kills;
  }

  #watch({ exited }: EngineProcess): void {
    this.#endedAt = null;
    void exited.then(() => (this.#endedAt = new Date()));
  }

  /** The former host saw it run as long as it lived, and its end lies between that and now. */
  #endedUnseen(startedAtText: string, atLatest: Date): void {
    const { formerAliveAt } = this.#journal;
    const times = [startedAtText, ...(formerAliveAt === null ? [] : [formerAliveAt])].toSorted();
    const notBefore = times.at(-1) ?? startedAtText;
    const at = notBefore > atLatest.toISOString() ? new Date(notBefore) : atLatest;
    this.#append("stopped", { not_before: notBefore, reason: "It ended while its host was away." }, at);
  }

  #append(type: JournalRecord["type"], details: JournalRecord["details"], at: Date): void {
    this.#journal.append(this.#id, type, details, at);
  }
}

/** How it is seen: its sleep, and why it cannot be started. */
export class StateJournal {
  readonly #journal: Pick<Journal, "append">;
  readonly #id: string;
  #state: Observation["state"] = "absent";
  /** Undefined before it was seen first. */
  #lastWakeAt: string | null | undefined;
  #lastFailure: string | null = null;

  constructor(journal: Pick<Journal, "append">, id: string) {
    this.#journal = journal;
    this.#id = id;
  }

  /** It is seen like this from now on. */
  observed({ state, sleep, lastError }: Observation): void {
    const former = this.#state;
    this.#state = state;
    if (state === "asleep" && former !== "asleep" && former !== "absent")
      this.#append("asleep", {}, new Date());
    if (state === "running") this.#lastFailure = null;
    if (state === "failed") this.#failed(lastError ?? "");
    this.#noteWake(sleep?.lastWake ?? null);
  }

  /** It is tried again and again, so that only another reason is news. */
  #failed(reason: string): void {
    if (this.#lastFailure === reason) return;
    this.#lastFailure = reason;
    this.#append(reason === DISK_IS_FULL ? "disk_full" : "failed", { reason }, new Date());
  }

  #noteWake(wake: Wake | null): void {
    const isNews = this.#lastWakeAt !== undefined && wake !== null && wake.at !== this.#lastWakeAt;
    this.#lastWakeAt = wake?.at ?? null;
    if (!isNews) return;
    const { reason, spansMs } = wake;
    this.#append("awake", { wake: { reason, spansMs } }, new Date(wake.at));
  }

  #append(type: JournalRecord["type"], details: JournalRecord["details"], at: Date): void {
    this.#journal.append(this.#id, type, details, at);
  }
}
