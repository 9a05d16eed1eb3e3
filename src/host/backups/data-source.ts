// The data of one instance as copies see it: of a running engine, of a sleeping instance, or of neither for a while.
import { primaryOf } from "../../contracts/instance-spec.ts";
import type { Observation } from "../../contracts/observation.ts";
import { PublicError } from "../../lib/errors.ts";
import type { EngineProcess } from "../engine/engine-process.ts";
import type { EngineRunner } from "../engine/runner.ts";
import type { Runnable } from "../engine/runner-parts.ts";
import type { Condition } from "../manifest/instance-state.ts";
import type { InstanceLifecycle } from "../lifecycle/machine.ts";
import type { ManifestFile } from "../manifest/manifest-file.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { InstanceFolder } from "../os/layout.ts";
import { markRebuild } from "../provisioning/rebuild.ts";

/** The parts of an instance that a copy needs. */
interface DataSourceParts {
  id: string;
  lifecycle: Pick<InstanceLifecycle, "state">;
  folder: InstanceFolder;
  file: ManifestFile;
  runner: EngineRunner;
  condition: Pick<Condition, "notice" | "changed">;
  /** Starts a sleeping engine. */
  wake(): void;
}

/** Data that can be copied now. */
export type Copyable =
  | { state: "running"; runnable: Runnable; process: EngineProcess; manifest: Manifest }
  | { state: "asleep"; runnable: Runnable; manifest: Manifest };

export class DataSource {
  readonly #parts: DataSourceParts;
  #lagSeconds: number | null = null;

  constructor(parts: DataSourceParts) {
    this.#parts = parts;
  }

  get id(): string {
    return this.#parts.id;
  }

  get manifest(): Manifest | null {
    return this.#parts.file.manifest;
  }

  get folder(): InstanceFolder {
    return this.#parts.folder;
  }

  /** The engine that runs; null when none does. */
  get process(): EngineProcess | null {
    return this.#parts.runner.process;
  }

  /** How far a replica is behind; null while that is not known. */
  get lagSeconds(): number | null {
    return this.#lagSeconds;
  }

  /** Whether an engine may write to the data. */
  get isAwake(): boolean {
    return this.#parts.runner.process !== null || !this.#isAsleep;
  }

  /** Whether its engine takes connections. */
  get isServing(): boolean {
    return this.#parts.lifecycle.state.name === "running" && this.#parts.runner.process !== null;
  }

  /** Whether its spec says that its log is shipped. */
  get keepsLog(): boolean {
    const spec = this.manifest?.spec;
    return spec !== undefined && "keepsLog" in spec && spec.keepsLog === true;
  }

  /** Shows the owner what is wrong with the backups of the instance; null when all is well again. */
  notice(sentence: string | null): void {
    this.#parts.condition.notice("backups", sentence);
  }

  /** Has a sleeping engine start, to recover its data; the end of the start is not waited for. */
  wake(): void {
    this.#parts.wake();
  }

  /** The replica's part of the observation. */
  observe(): Pick<Observation, "replica"> {
    const spec = this.manifest?.spec;
    const isReplica = spec !== undefined && primaryOf(spec) !== null;
    return isReplica ? { replica: { lagSeconds: this.#lagSeconds } } : {};
  }

  /** Publishes how far a replica is behind. */
  noteLag(seconds: number | null): void {
    this.#lagSeconds = seconds;
    this.#parts.condition.changed();
  }

  /** Has the data of a replica built anew: its engine is killed, and the next start builds the data. */
  rebuild(): void {
    markRebuild(this.#parts.folder);
    this.#parts.runner.kill();
  }

  /** The engine with its context, also of a sleeping instance. @throws PublicError when it cannot be chosen. */
  async runnable(): Promise<Runnable> {
    const { id, file, runner } = this.#parts;
    if (file.manifest === null) throw new PublicError(`${id} does not exist.`);
    return await runner.choose(file.manifest);
  }

  /** The data as it can be copied at this moment; null while it cannot. */
  now(runnable: Runnable): Copyable | null {
    const { file, runner } = this.#parts;
    const { manifest } = file;
    const { process } = runner;
    if (manifest === null) return null;
    if (this.isServing && process !== null)
      return { state: "running", runnable: runner.runnable ?? runnable, process, manifest };
    return this.#isAsleep && process === null ? { state: "asleep", runnable, manifest } : null;
  }

  get #isAsleep(): boolean {
    return this.#parts.lifecycle.state.name === "asleep";
  }
}
