// The journal of a host with what is known of each of its instances.
import type { JournalRecord } from "../../contracts/journal.ts";
import type { Observation } from "../../drivers/driver.ts";
import type { Log } from "../../lib/log.ts";
import { ProcessJournal, StateJournal, type RunnerJournal } from "./instance-journal.ts";
import { Journal } from "./journal.ts";

export class HostJournal {
  readonly #journal: Journal;
  readonly #states = new Map<string, StateJournal>();

  /** @param path the file; what an earlier host left there is taken up. */
  constructor(path: string, log: Log) {
    this.#journal = new Journal(path, log);
  }

  /** For the runner of an instance. */
  of(id: string): RunnerJournal {
    return new ProcessJournal(this.#journal, id);
  }

  /** An instance is seen like this from now on. */
  observed(observation: Observation): void {
    const { id, state } = observation;
    const states = this.#states.get(id) ?? new StateJournal(this.#journal, id);
    states.observed(observation);
    if (state === "absent") this.#states.delete(id);
    else this.#states.set(id, states);
  }

  /**
   * What happened after a record, as soon as there is something.
   * @param sequence of the last record that was taken, which need not be kept any more.
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
