// What tests of the logs of environments share: processes with files, and consecutive hosts that read them.
import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EnvironmentLogEntry, EnvironmentLogQuery } from "../../../contracts/environment-logs.ts";
import { createLog } from "../../../lib/log.ts";
import { EnvironmentLogs } from "./environment-logs.ts";
import type { LoggedProcess } from "./output-reader.ts";
import type { LogRetention } from "./retention.ts";

/** The logs of a data directory. Each process has an environment of its own, which has the same number. */
export class LogsOnDisk {
  readonly dataDir = mkdtempSync(join(tmpdir(), "pilvi-logs-"));
  readonly processes: LoggedProcess[] = [];
  /** The processor time that turns are bounded by. It stands still, so no turn ends early. */
  workedMs = () => 0;
  logs: EnvironmentLogs;

  constructor(processes = 1) {
    for (let number = 1; number <= processes; number += 1)
      this.processes.push({
        id: `proc-${number}`,
        environment: `env-${number}`,
        deployment: "depl-1",
        path: join(this.dataDir, `engine-${number}.log`),
      });
    this.logs = this.restart();
  }

  /** A host that takes up what the former has left. */
  restart(retention?: LogRetention): EnvironmentLogs {
    return (this.logs = new EnvironmentLogs({
      dataDir: this.dataDir,
      ...(retention !== undefined && { retention }),
      processes: () => this.processes,
      processOf: (instance) => this.processes.find(({ id }) => id === instance),
      hasRoute: (id) => id.startsWith("env-"),
      log: createLog("host", "silent"),
      workedMs: () => this.workedMs(),
    }));
  }

  /** Has a process write. */
  write(text: string, number = 1): void {
    appendFileSync(join(this.dataDir, `engine-${number}.log`), text);
  }

  /** Everything that a query selects, in pages. */
  async entries(query: Partial<EnvironmentLogQuery> = {}, number = 1): Promise<EnvironmentLogEntry[]> {
    const found: EnvironmentLogEntry[] = [];
    let at: Partial<EnvironmentLogQuery> = {};
    for (;;) {
      const asked = { limit: 1_000, ...query, ...at };
      const slice = await this.logs.read(`env-${number}`, asked, AbortSignal.timeout(30_000));
      found.push(...slice.entries);
      if (slice.isEnd) return found;
      at = { cursor: slice.next };
    }
  }

  async messages(query: Partial<EnvironmentLogQuery> = {}, number = 1): Promise<string[]> {
    return (await this.entries(query, number)).map(({ message }) => message);
  }

  folder(number = 1): string {
    return join(this.dataDir, "logs", `env-${number}`);
  }

  /** The names of the segments. */
  files(number = 1): string[] {
    try {
      return readdirSync(this.folder(number)).toSorted();
    } catch {
      return [];
    }
  }

  /** How much the segments take on the disk. */
  bytes(number = 1): number {
    return this.files(number).reduce((sum, name) => sum + statSync(join(this.folder(number), name)).size, 0);
  }

  remove(): void {
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
