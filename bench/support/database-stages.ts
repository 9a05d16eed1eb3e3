// Measures the stages of a cluster's create, from the host's log and the times of its files.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import type { TestPilvi } from "../../tests/support/pilvi/pilvi.ts";
import { firstChanges, type ClientTimes } from "./create-stages.ts";

/**
 * The kernel stamps files with a clock in steps of 4 ms; on average, the real time is this much later, in milliseconds.
 */
const STEP_MS = 2;

/** Milliseconds of `performance.now()` of this process. Only means are more precise than the kernel's step. */
interface FileTimes {
  /** The folders exist, and the making of the first data begins. */
  foldersAt: number;
  /** The first data is in its place. */
  dataAt: number;
  /** The engine has written the last file before it takes connections. */
  engineAt: number;
}

/** Reads the times of an available cluster's files; its folder is gone when it is deleted. */
export function fileTimesOf(pilvi: TestPilvi, { id, meta }: DatabaseClusterResource): FileTimes {
  const folder = join(pilvi.dataDir, "instances", id);
  const isPostgres = meta.engine?.name === "postgres";
  // Postgres writes there that it is ready; MariaDB writes its pid when only the tables of users are left to be read.
  const lastFile = isPostgres ? "data/postmaster.pid" : "run/engine.pid";
  const config = isPostgres ? "conf/postgresql.conf" : "conf/mariadb.cnf";
  return {
    foldersAt: statSync(join(folder, "run")).birthtimeMs - performance.timeOrigin + STEP_MS,
    dataAt: statSync(join(folder, config)).birthtimeMs - performance.timeOrigin + STEP_MS,
    engineAt: statSync(join(folder, lastFile)).mtimeMs - performance.timeOrigin + STEP_MS,
  };
}

/** The host's time until the first data was in its place: built, or taken out of a slot. */
export function dataMs({ foldersAt, dataAt }: FileTimes): number {
  return dataAt - foldersAt;
}

export class DatabaseStages {
  readonly #pilvi: TestPilvi;
  readonly #creates: { id: string; client: ClientTimes; files: FileTimes }[] = [];

  constructor(pilvi: TestPilvi) {
    this.#pilvi = pilvi;
  }

  /** Adds a create. */
  note(id: string, client: ClientTimes, files: FileTimes): void {
    this.#creates.push({ id, client, files });
  }

  /** The lengths of each stage in milliseconds, of the last `count` creates. */
  read(count: number): Map<string, number[]> {
    const changes = firstChanges(readFileSync(join(this.#pilvi.dataDir, "log", "host.log"), "utf8"));
    const stages = new Map<string, number[]>();
    for (const { id, client, files } of this.#creates.slice(-count)) {
      const starting = changes.get(`${id} starting`);
      const running = changes.get(`${id} running`);
      if (starting === undefined || running === undefined) throw new Error(`the host's log lacks ${id}`);
      for (const [name, ms] of Object.entries(lengths(client, files, starting, running))) {
        stages.set(name, [...(stages.get(name) ?? []), ms]);
      }
    }
    return stages;
  }
}

function lengths(
  client: ClientTimes,
  files: FileTimes,
  starting: number,
  running: number,
): Record<string, number> {
  return {
    "create sent to 201": client.answeredAt - client.startedAt,
    "201 to the host's start (work taken, manifest written)": starting - client.answeredAt,
    "host's start to folders made": files.foldersAt - starting,
    "first data (built, or taken from a slot; chown)": dataMs(files),
    "data there to engine up (config, spawn, engine's own start)": files.engineAt - files.dataAt,
    "engine up to running (line seen, roles applied, limits)": running - files.engineAt,
    "running to available shown (login, status, held GET)": client.availableAt - running,
    "available sent to first answer": client.firstAnswerAt - client.availableAt,
  };
}
