// Brings a running engine to the users and databases of its spec, and keeps the databases that fail.
import type { Observation } from "../../contracts/observation.ts";
import type { DatabaseFault } from "../../engines/engine.ts";
import type { Log } from "../../lib/log.ts";
import type { Condition } from "../manifest/instance-state.ts";
import type { EngineProcess } from "./engine-process.ts";
import { madeDatabasesOf, missingDatabases, pendingDatabases } from "../manifest/made-databases.ts";
import type { ManifestFile } from "../manifest/manifest-file.ts";
import type { EngineRunner } from "./runner.ts";
import type { Runnable } from "./runner-parts.ts";

/** The parts that apply the contents of an instance. */
interface ContentsParts {
  log: Log;
  file: ManifestFile;
  condition: Condition;
  runner: EngineRunner;
}

export class Contents {
  readonly #parts: ContentsParts;
  #faults: DatabaseFault[] = [];

  constructor(parts: ContentsParts) {
    this.#parts = parts;
  }

  /** Whether some databases differ from the spec. The control plane asks for them again from time to time. */
  get isPartial(): boolean {
    return this.#faults.length > 0;
  }

  /** The contents' part of the observation. */
  observe(): Pick<Observation, "pendingDatabases" | "missingDatabases"> {
    const { manifest } = this.#parts.file;
    const names = manifest === null ? [] : pendingDatabases(manifest);
    const pending = [...new Set([...names, ...this.#faults.map(({ name }) => name)])];
    const missing = manifest === null ? [] : missingDatabases(manifest);
    return {
      ...(pending.length > 0 && { pendingDatabases: pending }),
      ...(missing.length > 0 && { missingDatabases: missing }),
    };
  }

  /**
   * Brings users and databases to the spec.
   * @returns whether the data was new and this the first time, so that no client can have changed anything.
   * @throws when the engine refuses, or ended meanwhile.
   */
  async apply(runnable: Runnable, process: EngineProcess): Promise<boolean> {
    const { log, file, condition, runner } = this.#parts;
    const { isDataNew, faults } = await runner.apply(runnable, process, madeDatabasesOf(file));
    this.#faults = faults;
    // From here on, a database that a customer drops by a statement is made again, as in any cluster.
    if (file.manifest !== null && missingDatabases(file.manifest).length === 0) await file.drop("isRestored");
    if (faults.length > 0) log.warn({ faults }, "databases could not be brought to their desired state");
    condition.notice("databases", faults.map(({ reason }) => reason).join(" ") || null);
    return isDataNew;
  }
}
