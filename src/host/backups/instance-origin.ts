// The origin of one instance: builds its first data, and knows how far that is and whether it has failed for good.
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { Observation } from "../../contracts/observation.ts";
import { RestoreFault } from "../../engines/backup.ts";
import type { Engine, EngineContext } from "../../engines/engine.ts";
import type { Condition } from "../manifest/instance-state.ts";
import type { InstanceLifecycle } from "../lifecycle/machine.ts";
import type { ManifestFile } from "../manifest/manifest-file.ts";
import type { DataOrigin, OriginSource } from "../provisioning/origin.ts";
import type { HostBackups } from "./host-backups.ts";

/** Watchers get the progress so often at most. */
const PUBLISH_INTERVAL_MS = 500;

interface Parts {
  id: string;
  condition: Condition;
  lifecycle: InstanceLifecycle;
  file: ManifestFile;
  backups: Pick<HostBackups, "restore">;
  /** Aborted when the instance is to be removed or let go. */
  leaving: AbortSignal;
}

export class InstanceOrigin implements OriginSource {
  readonly #parts: Parts;
  #progress: { doneBytes: number; totalBytes: number } | null = null;
  #publishedAtMs = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Why the data cannot be built, so that no start is worth an attempt; null while it may be. A later host knows it. */
  get failure(): string | null {
    return this.#parts.file.manifest?.restoreFailed ?? null;
  }

  /** An earlier host may have found that the first data cannot be built. */
  loaded(): void {
    const { failure } = this;
    const { condition, lifecycle } = this.#parts;
    if (failure === null || lifecycle.state.name !== "starting") return;
    condition.lastError = failure;
    lifecycle.report({ type: "startFailed" });
  }

  /** Somebody asks for the instance again. */
  retry(): void {
    void this.#parts.file.drop("restoreFailed");
  }

  /** The origin's part of the observation. */
  observe(): Pick<Observation, "restoring" | "restoreFailed"> {
    return {
      ...(this.#progress === null ? {} : { restoring: this.#progress }),
      ...(this.failure !== null ? { restoreFailed: true as const } : {}),
    };
  }

  async build(
    origin: DataOrigin,
    engine: Engine,
    context: EngineContext<InstanceSpec>,
    folder: string,
  ): Promise<void> {
    const { id, backups, leaving } = this.#parts;
    const progress = (doneBytes: number, totalBytes: number) => this.#note(doneBytes, totalBytes);
    try {
      await backups.restore(origin, { id, engine, context, folder, signal: leaving, progress });
      // Before the data is in its place, so that no start can make a database that is not in it.
      await this.#parts.file.change({ isRestored: true });
    } catch (error) {
      if (error instanceof RestoreFault) await this.#parts.file.change({ restoreFailed: error.message });
      throw error;
    } finally {
      this.#progress = null;
    }
  }

  #note(doneBytes: number, totalBytes: number): void {
    this.#progress = { doneBytes: Math.min(Math.round(doneBytes), totalBytes), totalBytes };
    const nowMs = performance.now();
    if (nowMs - this.#publishedAtMs < PUBLISH_INTERVAL_MS) return;
    this.#publishedAtMs = nowMs;
    this.#parts.condition.changed();
  }
}
