// Counts of a cluster and of its applications, since they were created.
import type { WebhookCounters } from "./webhooks/batch.ts";

/** The memory that a cluster or an application is counted in: a number for each counter. */
export type Cells = Float64Array;

/** The number of cells. */
export const CELL_COUNT = 7;

/** Where the counts of a cluster are kept. Names are ids. */
export interface CellStore {
  /** Counts that are there already are gone on with. */
  open(name: string): Cells;
  /** Forgets the counts of all other names. */
  keepOnly(names: ReadonlySet<string>): void;
}

/** Keeps counts for as long as the process runs. */
export const inMemory: CellStore = {
  open: () => new Float64Array(CELL_COUNT),
  keepOnly: () => undefined,
};

/** The counts of an application, or of a whole cluster. They only grow. */
export class Counters implements WebhookCounters {
  readonly #cells: Cells;
  readonly #whole: Counters | null;

  /** @param whole what counts everything as well that is counted here. */
  constructor(cells: Cells, whole: Counters | null = null) {
    this.#cells = cells;
    this.#whole = whole;
  }

  /** Frames of clients and events of the HTTP API. */
  get received(): number {
    return this.#at(0);
  }
  set received(count: number) {
    this.#count(0, count);
  }

  /** Frames to clients. */
  get sent(): number {
    return this.#at(1);
  }
  set sent(count: number) {
    this.#count(1, count);
  }

  /** Requests of the HTTP API with a valid signature. */
  get requests(): number {
    return this.#at(2);
  }
  set requests(count: number) {
    this.#count(2, count);
  }

  /** Connections that were closed because their clients did not read. */
  get slowConsumers(): number {
    return this.#at(3);
  }
  set slowConsumers(count: number) {
    this.#count(3, count);
  }

  get delivered(): number {
    return this.#at(4);
  }
  set delivered(count: number) {
    this.#count(4, count);
  }

  get failed(): number {
    return this.#at(5);
  }
  set failed(count: number) {
    this.#count(5, count);
  }

  get dropped(): number {
    return this.#at(6);
  }
  set dropped(count: number) {
    this.#count(6, count);
  }

  #at(index: number): number {
    return this.#cells[index] as number;
  }

  #count(index: number, count: number): void {
    if (this.#whole !== null) this.#whole.#count(index, this.#whole.#at(index) + count - this.#at(index));
    this.#cells[index] = count;
  }
}

/** The counters of a cluster and of each of its applications. */
export class ClusterCounters {
  /** Removed applications are counted here as well. */
  readonly whole: Counters;
  readonly #id: string;
  readonly #store: CellStore;
  readonly #byId = new Map<string, Counters>();

  /** @param id of the cluster. */
  constructor(id: string, store: CellStore) {
    this.#id = id;
    this.#store = store;
    this.whole = new Counters(store.open(id));
  }

  of(application: string): Counters {
    const known = this.#byId.get(application);
    if (known !== undefined) return known;
    const made = new Counters(this.#store.open(application), this.whole);
    this.#byId.set(application, made);
    return made;
  }

  /** Forgets all other applications. */
  keepOnly(applications: ReadonlySet<string>): void {
    for (const id of this.#byId.keys()) if (!applications.has(id)) this.#byId.delete(id);
    this.#store.keepOnly(new Set([...applications, this.#id]));
  }
}
