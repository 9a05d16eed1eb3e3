// The logs of all instances, to be read whether their engines run or not.
import type { LogQuery, LogSlice } from "../../contracts/logs.ts";
import { plainLine, type ReadLine } from "../../engines/log-line.ts";
import { instanceFolder } from "../os/layout.ts";
import { readLog } from "./read-log.ts";

/** The instances, of which the logs need to know how a line is read; undefined before an engine was chosen. */
type Instances = ReadonlyMap<string, { readLogLine: ReadLine | undefined }>;

export class EngineLogs {
  readonly #dataDir: string;
  readonly #instances: Instances;

  constructor(dataDir: string, instances: Instances) {
    this.#dataDir = dataDir;
    this.#instances = instances;
  }

  /** Reads the log of an instance; that of an unknown instance is empty. */
  async read(id: string, query: LogQuery, signal: AbortSignal): Promise<LogSlice> {
    const readLine = this.#instances.get(id)?.readLogLine ?? plainLine;
    return await readLog(instanceFolder(this.#dataDir, id).log, readLine, query, signal);
  }
}
