// In which order the output of processes is read: environments in turn, and of each its processes, so that many loud
// processes of an environment delay only each other.
import type { LoggedProcess } from "./output-reader.ts";

export class OutputTurns {
  /** The number of the latest reading of each process. */
  #latest = new Map<string, number>();
  #count = 0;

  /**
   * Reads each process once, and again those of which more may be read, until nothing is left or it may not go on.
   * @param read reads a process, and says whether more of it may be read in this turn.
   * @param mayGoOn asked after each reading; what then waits comes first in the next turn.
   */
  run(
    processes: readonly LoggedProcess[],
    read: (process: LoggedProcess) => boolean,
    mayGoOn: () => boolean,
  ): void {
    this.#latest = new Map(processes.map(({ id }) => [id, this.#latest.get(id) ?? 0]));
    const queues = new Set(this.#queues(processes));
    for (const queue of queues) {
      const process = queue.shift();
      if (process === undefined) continue;
      this.#count += 1;
      this.#latest.set(process.id, this.#count);
      if (read(process)) queue.push(process);
      // The loop comes to this environment again after all others.
      queues.delete(queue);
      if (queue.length > 0) queues.add(queue);
      if (!mayGoOn()) return;
    }
  }

  /** The processes of each environment, those first that have waited longest. */
  #queues(processes: readonly LoggedProcess[]): LoggedProcess[][] {
    const latest = (process: LoggedProcess | undefined) => this.#latest.get(process?.id ?? "") ?? 0;
    const sorted = processes.toSorted((a, b) => latest(a) - latest(b));
    const queues = [...Map.groupBy(sorted, ({ environment }) => environment).values()];
    return queues.toSorted((a, b) => latest(a.at(-1)) - latest(b.at(-1)));
  }
}
