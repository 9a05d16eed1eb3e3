// The manifest of one instance, in memory and on the disk.
import {
  noteManifest,
  readManifest,
  saysAsleep,
  writeManifest,
  type Manifest,
  type PersistedState,
  type SleepRecord,
} from "./manifest.ts";

export class ManifestFile {
  readonly #path: string;
  #manifest: Manifest | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** The manifest; null before there is one, and after a removal. */
  get manifest(): Manifest | null {
    return this.#manifest;
  }

  get isAsleep(): boolean {
    return saysAsleep(this.#manifest);
  }

  /**
   * Reads the manifest.
   * @returns null when the file does not exist.
   * @throws when the file cannot be understood.
   */
  read(): Manifest | null {
    return (this.#manifest = readManifest(this.#path));
  }

  /**
   * Replaces the manifest at once; the promise is fulfilled when a power cut can no longer undo that.
   * @throws at once when it cannot be written.
   */
  replace(manifest: Manifest): Promise<void> {
    const durable = writeManifest(this.#path, manifest);
    // A caller that ignores the promise must not get an unhandled rejection.
    durable.catch(() => undefined);
    this.#manifest = manifest;
    return durable;
  }

  /** Changes parts of the manifest, with the guarantees of `replace`. Does nothing without a manifest. */
  change(change: Partial<Manifest>): Promise<void> {
    if (this.#manifest === null) return Promise.resolve();
    return this.replace({ ...this.#manifest, ...change });
  }

  /** Takes a member away, with the guarantees of `replace`. Does nothing without that member. */
  drop(member: "isRestored" | "restoreFailed"): Promise<void> {
    if (this.#manifest?.[member] === undefined) return Promise.resolve();
    const { [member]: _, ...manifest } = this.#manifest;
    return this.replace(manifest);
  }

  /** Changes parts of the manifest whose loss in a power cut does no harm. */
  note(change: Partial<Manifest>): void {
    if (this.#manifest === null) return;
    const manifest = { ...this.#manifest, ...change };
    noteManifest(this.#path, manifest);
    this.#manifest = manifest;
  }

  /** Enters a state, and changes parts of the sleep record, with the guarantees of `replace`. */
  enter(state: PersistedState, sleep: Partial<SleepRecord>): Promise<void> {
    if (this.#manifest === null) return Promise.resolve();
    return this.change({ state, sleep: { ...this.#manifest.sleep, ...sleep } });
  }

  /** Drops the manifest of a removed instance. */
  forget(): void {
    this.#manifest = null;
  }
}
