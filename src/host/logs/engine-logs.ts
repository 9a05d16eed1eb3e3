// The logs of all instances, to be read whether their engines run or not.
import type { EngineName } from "../../contracts/engine-names.ts";
import type { LogQuery, LogSlice } from "../../contracts/logs.ts";
import { engineNamed } from "../../engines/index.ts";
import { plainLine } from "../../engines/log-line.ts";
import { instanceFolder } from "../os/layout.ts";
import { readLog } from "./read-log.ts";

/** The instances, whose engines say how a line of their logs is read; null before an engine was chosen. */
type Instances = ReadonlyMap<string, { source: { manifest: { engine: { name: EngineName } } | null } }>;

export class EngineLogs {
  readonly #dataDir: string;
  readonly #instances: Instances;

  constructor(dataDir: string, instances: Instances) {
    this.#dataDir = dataDir;
    this.#instances = instances;
  }

  /** Reads the log of an instance; that of an unknown instance is empty. */
  async read(id: string, query: LogQuery, signal: AbortSignal): Promise<LogSlice> {
    const engine = this.#instances.get(id)?.source.manifest?.engine;
    const readLine = engine === undefined ? plainLine : engineNamed(engine.name).readLogLine;
    return await readLog(instanceFolder(this.#dataDir, id).log, readLine, query, signal);
  }
}
