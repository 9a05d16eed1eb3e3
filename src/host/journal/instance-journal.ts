// The journal entries of one instance: the life of its processes, its sleep, and its failures.
import type { JournalRecord, OpenRun } from "../../contracts/journal.ts";
import type { Observation } from "../../contracts/observation.ts";
import type { Wake } from "../../contracts/sleep.ts";
import { startedAt } from "../os/process-times.ts";
import type { RecordedProcess } from "../os/recorded-process.ts";
import type { ProcessEnds } from "./engine-ends.ts";
import type { Journal } from "./journal.ts";

/** The greatest difference between two readings of the start time of one process. */
const SAME_PROCESS_MS = 2_000;

/** The public reason when the disk is full, for a killed engine or a failed start. */
export const DISK_IS_FULL = "The disk of the host is full.";

/** The public reason of an end that no host saw. */
const WITHOUT_HOST = "It ended while its host was away.";

type Appendable = Pick<Journal, "append" | "openRun" | "formerAliveAt">;

/** A process of an engine; `exited` resolves when it has ended. */
interface EngineProcess {
  pid: number;
  exited: Promise<void>;
}

/** The journal of a runner's processes. */
export type RunnerJournal = Pick<ProcessJournal, "started" | "ended" | "found" | "noteOomKills">;

/** Records the life of an instance's processes. */
export class ProcessJournal {
  readonly #journal: Appendable;
  readonly #id: string;
  readonly #ends: ProcessEnds | null;
  readonly #note: RecordedProcess | null;
  #hasCrashed = false;
  /** The end of the latest process. It is recorded once all its children have ended as well. */
  #endedAt: Date | null = null;
  #oomKills = 0;

  /**
   * @param ends of engines while no host ran; left out where nobody sees them.
   * @param note of the recorded process; left out where only times are compared.
   */
  constructor(
    journal: Appendable,
    id: string,
    { ends, note }: { ends?: ProcessEnds; note?: RecordedProcess } = {},
  ) {
    this.#journal = journal;
    this.#id = id;
    this.#ends = ends ?? null;
    this.#note = note ?? null;
  }

  /** Records that the engine has a process. */
  started(process: EngineProcess): void {
    const { pid } = process;
    this.#watch(process);
    this.#note?.note(pid);
    this.#append(this.#hasCrashed ? "restarted" : "started", { pid }, new Date());
    this.#hasCrashed = false;
  }

  /** Records that the process has ended. */
  ended(how: "stopped" | "crashed"): void {
    if (this.#journal.openRun(this.#id) === undefined) return;
    this.#hasCrashed = how === "crashed";
    this.#append(how, {}, this.#endedAt ?? new Date());
  }

  /** Records the process that a starting host found, or null, and the end of a former process without a host. */
  found(process: EngineProcess | null): void {
    const pid = process?.pid ?? null;
    if (process !== null) this.#watch(process);
    const open = this.#journal.openRun(this.#id);
    const beganAt = pid === null ? null : startedAt(pid);
    const isSame = open !== undefined && open.pid === pid && this.#isOf(open, beganAt);
    // Before the record: a later host must not take the note of a former process for that of the recorded process.
    if (pid !== null) this.#note?.note(pid);
    if (isSame) return;
    const formerEnd = open && this.#endedWithoutHost(open, beganAt ?? new Date());
    // By a clock that was set, it may have begun before the end of the former, whose record would count as the latest.
    if (pid !== null && beganAt !== null) this.#append("started", { pid }, latest(beganAt, formerEnd));
  }

  /**
   * Whether the recorded process is the process with its number now. An earlier release noted nothing, and the clock may
   * have been set since the record.
   */
  #isOf({ pid, at }: OpenRun, beganAt: Date | null): boolean {
    const isNoted = this.#note?.isOf(pid) ?? null;
    if (isNoted !== null) return isNoted;
    return beganAt !== null && Math.abs(beganAt.getTime() - Date.parse(at)) < SAME_PROCESS_MS;
  }

  /** Records kills for lack of memory. @param kills their number so far. */
  noteOomKills(kills: number): number {
    if (kills > this.#oomKills) this.#append("out_of_memory", {}, new Date());
    this.#oomKills = kills;
    return kills;
  }

  #watch({ pid, exited }: EngineProcess): void {
    this.#endedAt = null;
    this.#ends?.watch({ id: this.#id, pid }, exited);
    void exited.then(() => (this.#endedAt = new Date()));
  }

  /** Records an end that no host saw, with its time where `pilvi up` noted it. @returns the time of the record. */
  #endedWithoutHost({ pid, at }: OpenRun, atLatest: Date): Date {
    const end = this.#ends?.endOf({ id: this.#id, pid }) ?? null;
    if (end === null) return this.#endedUnseen(at, atLatest);
    const recordedAt = latest(end, new Date(at));
    this.#append("stopped", { reason: WITHOUT_HOST }, recordedAt);
    return recordedAt;
  }

  /**
   * Records an end that nobody saw: it lies between the former host's last sign of life and now.
   * @returns the time of the record.
   */
  #endedUnseen(startedAtText: string, atLatest: Date): Date {
    const { formerAliveAt } = this.#journal;
    const times = [startedAtText, ...(formerAliveAt === null ? [] : [formerAliveAt])].toSorted();
    const notBefore = times.at(-1) ?? startedAtText;
    const at = notBefore > atLatest.toISOString() ? new Date(notBefore) : atLatest;
    this.#append("stopped", { not_before: notBefore, reason: WITHOUT_HOST }, at);
    return at;
  }

  #append(type: JournalRecord["type"], details: JournalRecord["details"], at: Date): void {
    this.#journal.append(this.#id, type, details, at);
  }
}

function latest(at: Date, other: Date | undefined): Date {
  return other !== undefined && other > at ? other : at;
}

/** Records the visible states: sleep, wakes, and failed starts. */
export class StateJournal {
  readonly #journal: Pick<Journal, "append" | "isAwake">;
  readonly #id: string;
  #state: Observation["state"] = "absent";
  /** Undefined before the first observation. */
  #lastWakeAt: string | null | undefined;
  #lastFailure: string | null = null;
  /** When this host has seen the latest sleep. */
  #asleepAt: Date | null = null;
  /** When the latest wake began, as far as this host knows. */
  #wokenAt: Date | null = null;

  constructor(journal: Pick<Journal, "append" | "isAwake">, id: string) {
    this.#journal = journal;
    this.#id = id;
  }

  /** Records the changes that an observation shows. */
  observed({ state, sleep, lastError }: Observation): void {
    const former = this.#state;
    this.#state = state;
    if (sleep?.state === "awake") this.#wokenAt = new Date(sleep.since);
    if (state === "asleep" && former !== "asleep") this.#asleep(former === "absent", sleep?.wakes ?? 0);
    if (state === "running") this.#lastFailure = null;
    if (state === "failed") this.#failed(lastError ?? "");
    this.#noteWake(sleep?.lastWake ?? null);
  }

  /**
   * Records a sleep, unless an earlier host has, and before it a wake that nobody reported, as when its host or its
   * gateway was killed before its end.
   */
  #asleep(isFound: boolean, wakes: number): void {
    const isAwake = this.#journal.isAwake(this.#id);
    const at = (this.#asleepAt = new Date());
    if (isFound && isAwake === undefined) return;
    if (isAwake === false && wakes > 0) this.#append("awake", {}, this.#wokenAt ?? at);
    this.#append("asleep", {}, at);
  }

  /** A start is tried again and again, so only another reason is recorded. */
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
    // A client may have come before the sleep was complete, which it then ended. An earlier host may have seen that.
    const earliest = this.#asleepAt ?? this.#wokenAt;
    const at = new Date(Math.max(Date.parse(wake.at), earliest?.getTime() ?? 0));
    this.#append("awake", { wake: { reason, spansMs } }, at);
  }

  #append(type: JournalRecord["type"], details: JournalRecord["details"], at: Date): void {
    this.#journal.append(this.#id, type, details, at);
  }
}
