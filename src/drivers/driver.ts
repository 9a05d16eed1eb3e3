// The interface of a driver: instances as data, without a word on how they are run.
import type { EdgeAnswer, EdgeProbe } from "../contracts/edge-probe.ts";
import type { EdgeRoute } from "../contracts/edge-route.ts";
import type { Build, BuildLogQuery, BuildLogSlice, BuildSpec, Release } from "../contracts/builds.ts";
import type { Figures, Offer, StorageReading } from "../contracts/host-answers.ts";
import type { JournalRecord } from "../contracts/journal.ts";
import type { ArchiveState, BackupInfo, RestorePlan, RestoreTarget, Retention } from "../contracts/keeper.ts";
import type { EnvironmentLogQuery, EnvironmentLogSlice } from "../contracts/environment-logs.ts";
import type { LogQuery, LogSlice } from "../contracts/logs.ts";
import type { InstanceSpec } from "../contracts/instance-spec.ts";
import type { Observation } from "../contracts/observation.ts";
import type {
  CancelAnswer,
  CancelScope,
  QueriesAnswer,
  QueriesRequest,
  StatementsAnswer,
  StatementsRequest,
} from "../contracts/queries.ts";
import type { ReadingsAnswer } from "../contracts/readings.ts";
import type { TerminalSize } from "../contracts/terminal.ts";
import type { VerifiedRestore } from "../contracts/verification.ts";
import type { RouteWake } from "../contracts/wake-reasons.ts";
import type { DebugEvent } from "../contracts/realtime-debug.ts";

/** Runs instances somewhere: processes on this machine today, pods of a cluster later. */
export interface Driver {
  /** The engines and the memory for new instances. */
  offer(): Promise<Offer>;
  /**
   * Makes the instance as the spec says; resolves when it runs or has failed to start. Can be called again at any time.
   * @throws PublicError when the driver cannot be reached or refuses the spec.
   */
  ensure(spec: InstanceSpec, signal?: AbortSignal): Promise<Observation>;
  /**
   * Puts the instance to sleep without waiting until it is idle; resolves when it sleeps, at once when it slept before.
   * @throws PublicError when it cannot sleep now, with a sentence that says what keeps it awake; it then runs as
   *   before.
   */
  suspend(id: string, signal?: AbortSignal): Promise<Observation>;
  /**
   * Begins to end the engine of an instance that is about to be removed, in the time that the engine has for it.
   * @returns whether it still runs; false for an instance that sleeps or is absent.
   */
  end(id: string): Promise<boolean>;
  /**
   * Stops the instance, deletes all that belongs to it, and resolves when nothing is left. The instance may be absent.
   * @param signal ends the wait; the removal goes on, and a later call waits for it.
   */
  remove(id: string, signal?: AbortSignal): Promise<void>;
  /** The instance as it is now; an unknown id is `absent`. */
  observe(id: string): Promise<Observation>;
  /**
   * A slice of the log of an instance's engine, whether it runs or not; empty for an instance that has never run.
   * @throws PublicError when the driver cannot be reached.
   */
  logs(id: string, query: LogQuery, signal: AbortSignal): Promise<LogSlice>;
  /**
   * A slice of the log of an environment; empty for an environment that has none.
   * @throws PublicError when the driver cannot be reached.
   */
  environmentLogs(
    environment: string,
    query: EnvironmentLogQuery,
    signal: AbortSignal,
  ): Promise<EnvironmentLogSlice>;
  /**
   * Gauges of an instance at this moment; empty for an instance that has none.
   * @throws PublicError when the driver or the instance cannot be reached.
   */
  figures(id: string, signal?: AbortSignal): Promise<Figures>;
  /**
   * What happens in a part of an instance, such as an application, from `watching` on, until the signal is aborted or
   * the instance ends. It wakes nothing.
   * @throws PublicError when the driver or the instance cannot be reached, or the instance does not run.
   */
  debug(id: string, part: string, signal: AbortSignal): AsyncIterable<DebugEvent>;
  /**
   * The sessions of a database instance with their queries; none of an instance that sleeps, which is not woken.
   * @throws PublicError when the driver or the instance cannot be reached.
   */
  queries(id: string, request: QueriesRequest): Promise<QueriesAnswer>;
  /**
   * Ends a statement or a session, unless it has ended before.
   * @param query the id of an earlier answer.
   * @throws PublicError when the driver or the instance cannot be reached.
   */
  cancel(id: string, query: string, scope: CancelScope): Promise<CancelAnswer>;
  /**
   * What the statements of a database instance have taken; nothing of an instance that sleeps, which is not woken.
   * @throws PublicError when the driver or the instance cannot be reached, or the engine keeps no such statistics.
   */
  statements(id: string, request: StatementsRequest): Promise<StatementsAnswer>;
  /**
   * Begins the statistics of statements anew.
   * @throws PublicError when the driver or the instance cannot be reached.
   */
  resetStatements(id: string): Promise<void>;
  /**
   * The disk usage of instances, as measured last.
   * @param cursor of an earlier reading, for only the changes since; everything when left out or no longer known.
   * @throws PublicError when the driver cannot be reached.
   */
  storage(cursor?: string): Promise<StorageReading>;
  /**
   * What was measured of instances in each minute, the oldest minute first, at most some dozens of minutes at a time.
   * @param cursor of an earlier answer, all of whose batches were taken; everything that waits when left out or no
   *   longer known, so a batch may come again.
   * @throws PublicError when the driver cannot be reached.
   */
  readings(cursor?: string): Promise<ReadingsAnswer>;
  /**
   * The free ports of these, at the address where the driver's instances would listen.
   * @throws PublicError when the driver cannot be reached.
   */
  freePorts(ports: number[], signal?: AbortSignal): Promise<number[]>;
  /**
   * Returns what happened to instances after a record, the oldest first: as soon as there is something, or nothing
   * after some seconds.
   * @param after the sequence of the last record that was taken, which the driver then need not keep; 0 for all.
   * @throws PublicError when the driver cannot be reached.
   */
  journal(after: number, signal: AbortSignal): Promise<JournalRecord[]>;
  /**
   * Makes a backup of an instance's data without waking it; resolves when it is stored. A backup that exists is not made
   * again, and calls for the same backup join. It is given up when the signals of all its callers are aborted.
   * @throws PublicError when the instance has no data, cannot be copied, or the backup cannot be stored.
   */
  backUp(id: string, backup: string, signal: AbortSignal): Promise<BackupInfo>;
  /**
   * The archives of all instances, also of those that were removed.
   * @throws PublicError when the driver or its store of backups cannot be reached; so do the following.
   */
  archives(): Promise<ArchiveState[]>;
  /** The archive of an instance; null when there is none. */
  archive(id: string): Promise<ArchiveState | null>;
  /** Gives up a backup that is being made, and deletes a backup. It may be absent. */
  deleteBackup(archive: string, backup: string): Promise<void>;
  /** Deletes all backups and the log of an instance, which may be absent and must have been removed. */
  deleteArchive(archive: string): Promise<void>;
  /** Deletes what need not be kept of an archive. */
  retain(archive: string, retention: Retention): Promise<void>;
  /**
   * What a restore would take.
   * @throws PublicError that says why the target cannot be restored, as a sentence for the customer.
   */
  planRestore(archive: string, target: RestoreTarget): Promise<RestorePlan>;
  /**
   * Restores a target of an existing instance's archive to a throw-away copy at idle priority, checks all of it, and
   * deletes it. The instance is neither woken nor changed. One verification runs at a time; others wait.
   * @throws PublicError when nothing can be said of the target now; a target that cannot be restored is a result.
   */
  verify(archive: string, target: RestoreTarget, signal: AbortSignal): Promise<VerifiedRestore>;
  /**
   * Leads the names of a route at the edge to an instance; resolves when that is kept, and a running edge does so. A
   * name that another route has moves to this route, and an instance that does not run is woken by a request.
   * @throws PublicError when the driver cannot be reached or refuses the route; so do the following.
   */
  ensureRoute(route: EdgeRoute): Promise<void>;
  /** Ends a route at the edge, which may be absent. */
  removeRoute(id: string): Promise<void>;
  /**
   * Begins to wake what sleeps of a route, which may be absent; the occasion is in the record of the wake.
   */
  wakeRoute(id: string, wake: RouteWake): Promise<void>;
  /**
   * Sends a GET through the edge, as a client would, and says which instance has answered it, by its port. It counts as
   * use, and wakes an instance that sleeps.
   * @throws PublicError when the driver cannot be reached, or the edge does not answer.
   */
  probeEdge(query: EdgeProbe, signal?: AbortSignal): Promise<EdgeAnswer>;
  /** All routes at the edge, as they are kept. */
  routes(): Promise<EdgeRoute[]>;
  /**
   * Orders a build; resolves when its source was taken, with the build as it waits. A build that was ordered before goes
   * on as it is, and its source is not read.
   * @param source a tar of the files; null for commands in a release.
   * @throws PublicError when the driver cannot be reached or refuses the spec, BusyError when too many builds wait, and
   *   the error that the source breaks off with.
   */
  build(spec: BuildSpec, source: ReadableStream<Uint8Array> | null, signal?: AbortSignal): Promise<Build>;
  /**
   * A build as it is now; null for an unknown id.
   * @throws PublicError when the driver cannot be reached; so do the following.
   */
  observeBuild(id: string): Promise<Build | null>;
  /** Lines of a build's log after a position, as soon as there are any or the build has ended. */
  buildLog(id: string, query: BuildLogQuery, signal: AbortSignal): Promise<BuildLogSlice>;
  /**
   * Opens the terminal of a command that runs, once; the connection ends with the command, and the command with the
   * connection.
   * @throws PublicError when the driver cannot be reached, or the command has no terminal to open.
   */
  openTerminal(id: string, size: TerminalSize, events: TerminalEvents): Promise<OpenTerminal>;
  /** Ends a build with all its processes; resolves when nothing of it runs, with the build as it ended. */
  cancelBuild(id: string): Promise<Build>;
  /** Deletes a build with its log; its release stays. It may be absent. */
  removeBuild(id: string): Promise<void>;
  /** A release; null when it is not there. */
  release(id: string): Promise<Release | null>;
  /** Deletes a release, which may be absent. @throws PublicError while an instance needs it. */
  removeRelease(id: string): Promise<void>;
  /** Deletes the cache and the user of an environment whose instances and builds are gone. It may be absent. */
  removeEnvironment(id: string): Promise<void>;
  /**
   * Calls back with every instance's observation first, then with `synced`, then with every change as it happens. It may
   * repeat an observation. Reconnects by itself, and then begins anew, until the signal is aborted.
   */
  watch(events: WatchEvents, signal: AbortSignal): void;
}

/** A terminal as the client of a driver has it; `contracts/terminal.ts` has the frames. */
export interface OpenTerminal {
  send(frame: string | Uint8Array): void;
  /** How many bytes wait to be sent. */
  waitingBytes(): number;
  close(): void;
}

/** What a terminal calls. */
export interface TerminalEvents {
  received(frame: string | Uint8Array): void;
  /** Nothing follows: the last frame was the end, or the connection was lost. */
  closed(): void;
}

/** What a watch calls. */
export interface WatchEvents {
  changed(observation: Observation): void;
  /** Every instance was observed; an instance that is not named is absent. */
  synced(ids: string[]): void;
}
