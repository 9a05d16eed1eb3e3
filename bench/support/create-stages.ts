// Measures the stages of a create from the host's log, whose lines say when an instance began to start and when it ran.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestPilvi } from "../../tests/support/pilvi/pilvi.ts";

/** The client's times of a create, in milliseconds of `performance.now()`. */
export interface ClientTimes {
  startedAt: number;
  answeredAt: number;
  availableAt: number;
  /** When the client had the engine's own answer. */
  firstAnswerAt: number;
}

/** The host's log cuts its times off to whole milliseconds; on average, the real time is this much later. */
const CUT_OFF_MS = 0.5;

export class StageClock {
  readonly #logFile: string;
  readonly #creates: { id: string; seen: ClientTimes }[] = [];

  constructor(pilvi: TestPilvi) {
    this.#logFile = join(pilvi.dataDir, "log", "host.log");
  }

  /** Adds the client's times of a create. */
  note(id: string, seen: ClientTimes): void {
    this.#creates.push({ id, seen });
  }

  /**
   * The lengths of each stage in milliseconds, of the last `count` creates. Only means are more precise than the log's
   * milliseconds.
   */
  read(count: number): Map<string, number[]> {
    const changes = firstChanges(readFileSync(this.#logFile, "utf8"));
    const stages = new Map<string, number[]>();
    for (const { id, seen } of this.#creates.slice(-count)) {
      const starting = changes.get(`${id} starting`);
      const running = changes.get(`${id} running`);
      if (starting === undefined || running === undefined) throw new Error(`the host's log lacks ${id}`);
      for (const [name, ms] of Object.entries(lengths(seen, starting, running))) {
        stages.set(name, [...(stages.get(name) ?? []), ms]);
      }
    }
    return stages;
  }
}

/** When each instance first reached a state, by `ID STATE`, in milliseconds of `performance.now()` of this process. */
export function firstChanges(hostLog: string): Map<string, number> {
  const changes = new Map<string, number>();
  for (const line of hostLog.split("\n")) {
    if (!line.includes('"instance changed"')) continue;
    const { time, instance, state } = JSON.parse(line) as { time: string; instance: string; state: string };
    const key = `${instance} ${state}`;
    if (!changes.has(key)) changes.set(key, Date.parse(time) + CUT_OFF_MS - performance.timeOrigin);
  }
  return changes;
}

function lengths(seen: ClientTimes, starting: number, running: number): Record<string, number> {
  return {
    "create sent to 201": seen.answeredAt - seen.startedAt,
    "201 to the host's start (work taken, manifest written)": starting - seen.answeredAt,
    "host's start to engine ready (folders, files, spawn, log line)": running - starting,
    "engine ready to available shown (login, status, held GET)": seen.availableAt - running,
    "available sent to PONG": seen.firstAnswerAt - seen.availableAt,
  };
}
