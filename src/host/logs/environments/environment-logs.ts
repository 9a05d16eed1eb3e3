// The logs of all environments of this host: brings together what processes write, requests, and what happens to them.
import { rmSync, statfsSync } from "node:fs";
import type { EnvironmentLogQuery, EnvironmentLogSlice } from "../../../contracts/environment-logs.ts";
import type { JournalRecord } from "../../../contracts/journal.ts";
import { messageOf, PublicError } from "../../../lib/errors.ts";
import { guarded, guardedInterval } from "../../../lib/guarded.ts";
import type { Log } from "../../../lib/log.ts";
import { environmentLogsDir } from "../../os/layout.ts";
import { mayBeClosed, SEGMENT_BYTES, segmentsOf } from "./chain.ts";
import { EnvironmentLog } from "./environment-log.ts";
import { OutputReader, type LoggedProcess } from "./output-reader.ts";
import { OutputTurns } from "./output-turns.ts";
import { readEnvironmentLog } from "./read-environment-log.ts";
import { systemEntry } from "./system-entries.ts";
import { DEFAULT_RETENTION, logFolder, loggedEnvironments, retain, type LogRetention } from "./retention.ts";

const TURN_MS = 200;
/** How much of the output of all processes is read in a turn, or written when that is more. */
const TURN_BYTES_OF_HOST = 2 * 1024 ** 2;
/** How long a turn reads output at most. The host has one thread, and does nothing else meanwhile. */
const TURN_WORK_MS = 20;
/** How long a process is read before it is the turn of others. */
const SLICE_MS = 5;
/** How long the output of processes that have ended is read between two turns, beside the last of each. */
const ENDS_WORK_MS = 50;
const TIDY_MS = 30_000;
/** With less room on the disk, logs are not written, so that databases can. */
const MIN_FREE_BYTES = 512 * 1024 ** 2;

const ID = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** The rest of the host, as the logs need it. */
interface LogsHost {
  dataDir: string;
  retention?: LogRetention;
  /** The processes that run or are being ended. */
  processes(): LoggedProcess[];
  /** A process that runs or did; undefined for any other instance. */
  processOf(instance: string): LoggedProcess | undefined;
  /** Whether a route of the edge is there, so that a line about it has an environment. */
  hasRoute(id: string): boolean;
  log: Pick<Log, "warn">;
  /** How long this thread has worked so far; asked of the kernel when left out. */
  workedMs?: () => number;
}

/** The time of the processor that this thread has taken: on a busy machine, none is taken from a turn. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

export class EnvironmentLogs {
  readonly #host: LogsHost;
  readonly #folder: string;
  readonly #logs = new Map<string, EnvironmentLog>();
  readonly #outputs = new OutputReader();
  readonly #turns = new OutputTurns();
  readonly #workedMs: () => number;
  #timers: ReturnType<typeof setInterval>[] = [];
  #endsLeftMs = ENDS_WORK_MS;

  constructor(host: LogsHost) {
    this.#host = host;
    this.#folder = environmentLogsDir(host.dataDir);
    this.#workedMs = host.workedMs ?? threadMs;
  }

  start(): void {
    const what = "the logs of environments could not be written";
    this.#timers = [
      guardedInterval(this.#host.log, what, TURN_MS, () => this.turn()),
      guardedInterval(this.#host.log, what, TIDY_MS, () => void this.tidy()),
    ];
  }

  /** Writes what has come, and ends. */
  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    guarded(this.#host.log, "the logs of environments could not be written", () => this.turn());
  }

  /** Brings what is new into the logs, up to the bounds of a turn; the next one goes on with the others. */
  turn(): void {
    this.#endsLeftMs = ENDS_WORK_MS;
    for (const log of this.#logs.values()) this.#guarded(() => log.flush(() => this.#isFull()));
    if (this.#isFull()) return;
    const endMs = this.#workedMs() + TURN_WORK_MS;
    const isInTime = this.#until(endMs);
    let left = TURN_BYTES_OF_HOST;
    const read = (process: LoggedProcess): boolean => {
      const isInSlice = this.#until(Math.min(endMs, this.#workedMs() + SLICE_MS));
      let isCut = false;
      this.#guarded(() => {
        const log = this.#of(process.environment);
        const reading = this.#outputs.read(log, process, isInSlice);
        left -= reading.bytes;
        ({ isCut } = reading);
      });
      return isCut;
    };
    this.#turns.run(this.#host.processes(), read, () => left > 0 && isInTime() && !this.#isFull());
  }

  /** Notes what happened to a process, after what it wrote before, as far as that may be read at once. */
  happened(instance: string, type: JournalRecord["type"], details: JournalRecord["details"]): void {
    const process = this.#host.processOf(instance);
    const said = systemEntry(type, details);
    if (process === undefined || said === null || this.#isFull()) return;
    const { environment, deployment } = process;
    this.#guarded(() => {
      const log = this.#of(environment);
      if (said.isEnd) this.#readEnd(log, process);
      else this.#outputs.read(log, process, this.#until(this.#workedMs() + SLICE_MS));
      const of = { i: instance, ...(deployment !== null && { d: deployment }) };
      log.append([{ ...of, l: said.level, y: "system", m: said.message }]);
    });
  }

  /** Takes a line of the edge about a request. */
  request(route: string, line: string): void {
    if (this.#host.hasRoute(route)) this.#of(route).request(line);
  }

  /** Counts requests that the edge has not written about. */
  missed(route: string, requests: number): void {
    if (this.#host.hasRoute(route)) this.#of(route).missed(requests);
  }

  async read(
    environment: string,
    query: EnvironmentLogQuery,
    signal: AbortSignal,
  ): Promise<EnvironmentLogSlice> {
    if (!ID.test(environment)) throw new PublicError("The id of the environment is malformed.");
    return await readEnvironmentLog(this.#of(environment), query, signal);
  }

  /** Deletes the log of an environment that is gone. */
  remove(environment: string): void {
    if (!ID.test(environment)) throw new PublicError("The id of the environment is malformed.");
    this.#logs.delete(environment);
    rmSync(logFolder(this.#folder, environment), { recursive: true, force: true });
  }

  /** Closes, compresses and deletes segments. */
  async tidy(nowMs = Date.now()): Promise<void> {
    let left = SEGMENT_BYTES;
    for (const environment of loggedEnvironments(this.#folder)) {
      try {
        if (left > 0) left -= this.#takeUpOld(environment, nowMs);
        await this.#logs.get(environment)?.tidy(nowMs);
        this.#retain(environment, nowMs);
      } catch (error) {
        this.#host.log.warn({ error: messageOf(error), environment }, "a log could not be tidied");
      }
    }
  }

  /** Many processes may end at once, each after a flood. */
  #readEnd(log: EnvironmentLog, process: LoggedProcess): void {
    const beganMs = this.#workedMs();
    this.#outputs.readEnd(log, process, this.#until(beganMs + this.#endsLeftMs));
    this.#endsLeftMs -= this.#workedMs() - beganMs;
  }

  /** A function that says whether this thread has worked for less so far. */
  #until(endMs: number): () => boolean {
    return () => this.#workedMs() < endMs;
  }

  #of(environment: string): EnvironmentLog {
    const known = this.#logs.get(environment);
    if (known !== undefined) return known;
    // A flood may fill many segments until the logs are tidied the next time.
    const onFull = () => this.#guarded(() => this.#retain(environment, Date.now()));
    const log = new EnvironmentLog(logFolder(this.#folder, environment), onFull);
    this.#logs.set(environment, log);
    return log;
  }

  /**
   * Takes up a log into which nothing was written since the host was started, when it has segments to be closed: nothing
   * else would close them, and the newest segment is never deleted.
   * @returns how much that has read.
   */
  #takeUpOld(environment: string, nowMs: number): number {
    if (this.#logs.has(environment)) return 0;
    const folder = logFolder(this.#folder, environment);
    const newest = (["a", "x"] as const).flatMap((chain) => segmentsOf(folder, chain).at(-1) ?? []);
    if (!newest.some((segment) => mayBeClosed(segment, nowMs))) return 0;
    this.#of(environment);
    return newest.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #retain(environment: string, nowMs: number): void {
    const retention = this.#host.retention ?? DEFAULT_RETENTION;
    retain(logFolder(this.#folder, environment), retention, nowMs);
  }

  #isFull(): boolean {
    const { bavail, bsize } = statfsSync(this.#host.dataDir);
    return bavail * bsize < MIN_FREE_BYTES;
  }

  #guarded(task: () => void): void {
    guarded(this.#host.log, "the log of an environment could not be written", task);
  }
}
