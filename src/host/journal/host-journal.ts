// The journal of a host, with the known state of each of its instances.
import type { JournalRecord } from "../../contracts/journal.ts";
import type { Observation } from "../../contracts/observation.ts";
import type { Log } from "../../lib/log.ts";
import type { KeeperLink } from "../os/keeper-link.ts";
import { engineEndsFile, instanceFolder, journalFile } from "../os/layout.ts";
import { RecordedProcess } from "../os/recorded-process.ts";
import { EngineEnds } from "./engine-ends.ts";
import { ProcessJournal, StateJournal, type RunnerJournal } from "./instance-journal.ts";
import { Journal, type OnRecord } from "./journal.ts";

/**
 * How much later than it happens the watch reports a wake: the control plane and its store take the processor from the
 * engines that wake.
 */
export const WAKE_REPORT_DELAY_MS = 100;

/** The records of a wake follow each other, and are taken together. */
const GATHER_MS = 50;

/** By then the watch has reported the state that a record is about, so its readers find the instance in that state. */
const REPORTED_MS = WAKE_REPORT_DELAY_MS + 10;

/** Gets each record as it is made. */
interface JournalReader {
  happened: OnRecord;
}

export class HostJournal {
  readonly #dataDir: string;
  readonly #journal: Journal;
  readonly #ends: EngineEnds;
  readonly #states = new Map<string, StateJournal>();

  /**
   * Takes up the records of an earlier host.
   * @param keeper the link to the process that watches engines after the end of this process; null without any.
   * @param logs get each record as it is made.
   */
  constructor(dataDir: string, keeper: KeeperLink | null, log: Log, logs?: JournalReader) {
    this.#dataDir = dataDir;
    this.#journal = new Journal(journalFile(dataDir), log, (...record) => logs?.happened(...record));
    this.#ends = new EngineEnds(engineEndsFile(dataDir), keeper, log);
  }

  /** Forgets the instances that an earlier host has removed. @param ids the instances on the disk. */
  keepOnly(ids: readonly string[]): void {
    this.#journal.keepOnly(ids);
  }

  /** The journal for the runner of an instance. */
  of(id: string): RunnerJournal {
    const note = new RecordedProcess(instanceFolder(this.#dataDir, id).recorded);
    return new ProcessJournal(this.#journal, id, { ends: this.#ends, note });
  }

  /** Records the changes that an observation shows. */
  observed(observation: Observation): void {
    const { id, state } = observation;
    const states = this.#states.get(id) ?? new StateJournal(this.#journal, id);
    states.observed(observation);
    if (state === "absent") {
      this.#states.delete(id);
      this.#journal.forget(id);
    } else this.#states.set(id, states);
  }

  /**
   * The records after a sequence, a moment after there are any. Records that come in that moment are left for later.
   * @param sequence the last record that the control plane has; records up to it may be deleted.
   * @param signal ends the wait.
   */
  async after(sequence: number, signal: AbortSignal): Promise<JournalRecord[]> {
    if (this.#journal.after(sequence).length === 0) await this.#journal.untilSome(signal);
    if (!signal.aborted) await Bun.sleep(GATHER_MS);
    const last = this.#journal.after(sequence).at(-1)?.sequence ?? sequence;
    if (!signal.aborted) await Bun.sleep(REPORTED_MS);
    return this.#journal.after(sequence).filter((record) => record.sequence <= last);
  }

  close(): void {
    this.#journal.close();
  }
}
