// A target in memory for tests, whose writes of some objects wait or fail until the test says otherwise.
import { MissingObject, type StoredObject } from "../object-store.ts";
import type { Target } from "./target.ts";

export class MemoryTarget implements Target {
  readonly name: string;
  readonly isRemote: boolean;
  readonly objects = new Map<string, Uint8Array>();
  /** Writes of matching objects wait for the promise. */
  held: { names: RegExp; until: Promise<void> } | null = null;
  /** Writes of matching objects fail. */
  failing: RegExp | null = null;
  /** Every use fails. */
  isAway = false;
  /** Called after each change. */
  onChange: () => void = () => undefined;

  constructor(name: string, isRemote: boolean) {
    this.name = name;
    this.isRemote = isRemote;
  }

  /** Lets writes of matching objects wait. @returns a function that lets them go on. */
  hold(names: RegExp): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.held = { names, until: promise };
    return () => {
      this.held = null;
      resolve();
    };
  }

  async write(name: string, sealed: Uint8Array): Promise<void> {
    this.#use();
    if (this.failing?.test(name) === true) throw new Error("it is refused");
    if (this.held?.names.test(name) === true) await this.held.until;
    this.objects.set(name, sealed);
    this.onChange();
  }

  async read(name: string): Promise<Uint8Array> {
    this.#use();
    const bytes = this.objects.get(name);
    if (bytes === undefined) throw new MissingObject(name);
    return bytes;
  }

  async list(prefix: string): Promise<StoredObject[]> {
    this.#use();
    return [...this.objects]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, bytes]) => ({ name, storedBytes: bytes.length }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async delete(name: string): Promise<void> {
    this.#use();
    this.objects.delete(name);
    this.onChange();
  }

  #use(): void {
    if (this.isAway) throw new Error("it is away");
  }
}
