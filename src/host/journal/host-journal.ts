// The journal of a host, with the known state of each of its instances.
import type { JournalRecord } from "../../contracts/journal.ts";
import type { Observation } from "../../contracts/observation.ts";
import type { Log } from "../../lib/log.ts";
import { ProcessJournal, StateJournal, type RunnerJournal } from "./instance-journal.ts";
import { Journal } from "./journal.ts";

export class HostJournal {
  readonly #journal: Journal;
  readonly #states = new Map<string, StateJournal>();

  /** @param path the file; the records of an earlier host are taken up. */
  constructor(path: string, log: Log) {
    this.#journal = new Journal(path, log);
  }

  /** The journal for the runner of an instance. */
  of(id: string): RunnerJournal {
    return new ProcessJournal(this.#journal, id);
  }

  /** Records the changes that an observation shows. */
  observed(observation: Observation): void {
    const { id, state } = observation;
    const states = this.#states.get(id) ?? new StateJournal(this.#journal, id);
    states.observed(observation);
    if (state === "absent") this.#states.delete(id);
    else this.#states.set(id, states);
  }

  /**
   * The records after a sequence, as soon as there are any.
   * @param sequence the last record that the control plane has; records up to it may be deleted.
   * @param signal ends the wait.
   */
  async after(sequence: number, signal: AbortSignal): Promise<JournalRecord[]> {
    if (this.#journal.after(sequence).length === 0) await this.#journal.untilSome(signal);
    return this.#journal.after(sequence);
  }

  close(): void {
    this.#journal.close();
  }
}
