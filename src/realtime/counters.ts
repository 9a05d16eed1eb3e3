// Counts of a cluster and of its applications, since they were created.
import type { WebhookCounters } from "./webhooks/batch.ts";

/** The memory that a cluster or an application is counted in: a number for each counter. */
export type Cells = Float64Array;

/** The number of cells. */
export const CELL_COUNT = 7;

/** Where the counts of a cluster are kept. Names are ids. */
export interface CellStore {
  /** All that earlier processes have opened and not removed. */
  names(): string[];
  /** Counts that are there already are gone on with. */
  open(name: string): Cells;
  remove(name: string): void;
}

/** Keeps counts for as long as the process runs. */
export const inMemory: CellStore = {
  names: () => [],
  open: () => new Float64Array(CELL_COUNT),
  remove: () => undefined,
};

/** The counts of an application, or of a whole cluster. They only grow. */
export class Counters implements WebhookCounters {
  readonly #cells: Cells;

  constructor(cells: Cells) {
    this.#cells = cells;
  }

  /** Frames of clients and events of the HTTP API. */
  get received(): number {
    return this.#cells[0] as number;
  }
  set received(count: number) {
    this.#cells[0] = count;
  }

  /** Frames to clients. */
  get sent(): number {
    return this.#cells[1] as number;
  }
  set sent(count: number) {
    this.#cells[1] = count;
  }

  /** Requests of the HTTP API with a valid signature. */
  get requests(): number {
    return this.#cells[2] as number;
  }
  set requests(count: number) {
    this.#cells[2] = count;
  }

  /** Connections that were closed because their clients did not read. */
  get slowConsumers(): number {
    return this.#cells[3] as number;
  }
  set slowConsumers(count: number) {
    this.#cells[3] = count;
  }

  get delivered(): number {
    return this.#cells[4] as number;
  }
  set delivered(count: number) {
    this.#cells[4] = count;
  }

  get failed(): number {
    return this.#cells[5] as number;
  }
  set failed(count: number) {
    this.#cells[5] = count;
  }

  get dropped(): number {
    return this.#cells[6] as number;
  }
  set dropped(count: number) {
    this.#cells[6] = count;
  }
}

/** The counters of a cluster and of each of its applications. */
export class ClusterCounters {
  readonly #store: CellStore;
  readonly #cellsOf = new Map<string, Cells>();
  /** What removed applications have counted. */
  readonly #removed: Cells;

  /** @param id of the cluster. */
  constructor(id: string, store: CellStore) {
    this.#store = store;
    this.#removed = store.open(id);
    // The sums are right before the first configuration, too.
    for (const name of store.names()) if (name !== id) this.#open(name);
  }

  /** The sums of all applications, removed ones included. */
  whole(): Counters {
    const sums = Float64Array.from(this.#removed);
    for (const cells of this.#cellsOf.values()) addTo(sums, cells);
    return new Counters(sums);
  }

  of(application: string): Counters {
    return new Counters(this.#open(application));
  }

  /** Adds up what all other applications have counted, and forgets them. */
  keepOnly(applications: ReadonlySet<string>): void {
    for (const [name, cells] of this.#cellsOf) {
      if (applications.has(name)) continue;
      addTo(this.#removed, cells);
      // A process that is killed before the removal adds nothing the next time.
      cells.fill(0);
      this.#cellsOf.delete(name);
      this.#store.remove(name);
    }
  }

  #open(name: string): Cells {
    const cells = this.#cellsOf.get(name) ?? this.#store.open(name);
    this.#cellsOf.set(name, cells);
    return cells;
  }
}

function addTo(sums: Cells, cells: Cells): void {
  for (const [index, count] of cells.entries()) sums[index] = (sums[index] as number) + count;
}
