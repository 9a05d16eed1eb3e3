// Gathers values that come shortly after each other, so that each is worked on once.

export class Gathering<Value> {
  readonly #forMs: number;
  readonly #pass: (values: ReadonlySet<Value>) => void;
  #values = new Set<Value>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param pass gets what has been gathered, a while after the first value. */
  constructor(forMs: number, pass: (values: ReadonlySet<Value>) => void) {
    this.#forMs = forMs;
    this.#pass = pass;
  }

  has(value: Value): boolean {
    return this.#values.has(value);
  }

  add(value: Value): void {
    this.#values.add(value);
    this.#timer ??= setTimeout(() => this.#end(), this.#forMs);
  }

  /** Drops what has been gathered. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#values = new Set();
  }

  #end(): void {
    const values = this.#values;
    this.close();
    this.#pass(values);
  }
}
