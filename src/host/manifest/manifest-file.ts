// The manifest of one instance, in memory and on the disk, and the sleep that it tells of.
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

  /** Null when there is none, or none any more. */
  get manifest(): Manifest | null {
    return this.#manifest;
  }

  get isAsleep(): boolean {
    return saysAsleep(this.#manifest);
  }

  /** @throws when the file cannot be understood. */
  read(): Manifest | null {
    return (this.#manifest = readManifest(this.#path));
  }

  /**
   * Puts another in its place at once; the promise is fulfilled when a power cut can no longer undo it.
   * @throws at once when it cannot be written.
   */
  replace(manifest: Manifest): Promise<void> {
    const durable = writeManifest(this.#path, manifest);
    // Who need not wait for the disk need not hear of its failure either.
    durable.catch(() => undefined);
    this.#manifest = manifest;
    return durable;
  }

  /** Changes parts of it; as `replace`. Nothing is changed when there is none. */
  change(change: Partial<Manifest>): Promise<void> {
    if (this.#manifest === null) return Promise.resolve();
    return this.replace({ ...this.#manifest, ...change });
  }

  /** Changes parts of it in a way that a power cut may undo with no harm. */
  note(change: Partial<Manifest>): void {
    if (this.#manifest === null) return;
    const manifest = { ...this.#manifest, ...change };
    noteManifest(this.#path, manifest);
    this.#manifest = manifest;
  }

  /** Enters a state, and changes what is known of its sleep; as `change`. */
  enter(state: PersistedState, sleep: Partial<SleepRecord>): Promise<void> {
    if (this.#manifest === null) return Promise.resolve();
    return this.change({ state, sleep: { ...this.#manifest.sleep, ...sleep } });
  }

  /** What was kept has been deleted. */
  forget(): void {
    this.#manifest = null;
  }
}
