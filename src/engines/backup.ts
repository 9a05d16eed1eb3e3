// How an engine's data is backed up and restored: the recipes that the host carries out, for each engine its own.
//
// A backup is one stream, made by one program after the other. It is whole by itself: to restore the state of a backup
// needs its stream alone, with no segment of the archive's log. An instant needs segments from the backup's first on.
import type { InstanceSpec } from "../contracts/instance-spec.ts";
import type { BackupFacts, RestorePlan } from "../contracts/keeper.ts";
import type { Limits } from "../contracts/observation.ts";
import { PublicError } from "../lib/errors.ts";
import type { Account, EngineContext } from "./engine.ts";
import type { InstalledEngine } from "./installed-engine.ts";

/** A program whose standard output is a part of a backup's stream. It runs as the instance's user, with its limits. */
export interface CopyCommand {
  /** The program and its arguments, of which the first is an absolute path. They hold no secret. */
  argv: string[];
  /** The exit codes with which the stream is whole. */
  okExitCodes: number[];
  /** Variables beside those of the installed engine; left out when there are none. */
  env?: Record<string, string>;
  /** Whether it holds locks that clients wait for, so that it must not run behind everything else. */
  holdsLocks?: true;
}

/**
 * What an engine knows of its copy. The host adds the rest of the facts: `engine` and `isHot`, `dataBytes`, and for the
 * copy of a stopped engine the users and databases.
 */
export type CopyFacts = Omit<BackupFacts, "engine" | "isHot" | "dataBytes" | "users" | "databases">;

/** A copy of a running engine also knows what is in it. */
export type HotFacts = CopyFacts & Pick<BackupFacts, "users" | "databases">;

/** A copy of a running engine, between its begin and its end. */
export interface HotCopy {
  /** The form of the stream, which a clone must know before the facts. */
  format: BackupFacts["format"];
  /** Its output is the beginning of the stream. */
  copy: CopyCommand;
  /** Why its program failed, as a sentence; null when that is not known. Left out by an engine that never knows. */
  explain?(): string | null;
  /**
   * Ends the copy after its program. The session stays open, since the rest of the stream may need it.
   * @throws when the copy cannot be restored; nothing of it may be kept then.
   */
  end(): Promise<HotEnd>;
  /** Closes the session; before `end` it gives the copy up. It may be called at any time and again, and never throws. */
  close(): Promise<void>;
}

/** A copy of a running engine that has ended. */
export interface HotEnd {
  facts: HotFacts;
  /** The output of these programs follows in the same stream; then `close` is due. */
  rest: CopyCommand[];
}

/** A copy of a stopped engine. */
export interface ColdCopy {
  /** The output of these programs, one after the other, is the stream. */
  copies: CopyCommand[];
  /**
   * What the stream leaves out of the data folder, as patterns of paths in it: a copy of the folder without that can be
   * recovered as well.
   */
  leftOut: string[];
  /** The same as paths that are no patterns, since their names are in the engine's hands; left out when there are none. */
  leftOutPaths?: string[];
  facts: CopyFacts;
}

/** A running program of a restore. */
export interface RestoreProcess {
  pid: number;
  /** What it writes to its standard error. */
  stderr: ReadableStream<Uint8Array>;
  /** The exit code; null when a signal ended it. */
  exited: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
}

/**
 * Starts a program of a restore: as the instance's user, with its limits, in its data folder, with the variables of the
 * installed engine and `TZ=UTC`, without standard input, its standard output thrown away. The program and its children
 * are killed when the signal of the restore is aborted, and must not outlive the host.
 */
export type StartProgram = (argv: string[], env?: Record<string, string>) => RestoreProcess;

/** The unpacked data of an instance that is being built, or of a throw-away copy for a verification. */
export interface RestoreContext {
  installed: InstalledEngine;
  /** Holds the unpacked data, and belongs to `account`. */
  dataDir: string;
  /**
   * An empty folder of `account`, beside the data on the same file system, for the socket and files of a restore. The
   * caller deletes it afterwards. Nothing is kept outside of these two folders, so a restore that was killed begins
   * anew after both were deleted.
   */
  workDir: string;
  /** The user that all programs run as; null is the host's own. */
  account: Account | null;
  limits: Limits;
  /** The facts of the backup that was unpacked. */
  facts: BackupFacts;
  recovery: RestorePlan["recovery"];
  /**
   * The data was copied from the folder of a stopped instance of this host, not read from an archive. So it is as good
   * as its source, and its administrator is the same.
   */
  isLocalCopy?: true;
  start: StartProgram;
  /** Ends the restore: `recover` then rejects with the reason of the signal. */
  signal: AbortSignal;
  /** Called now and then with the part of the recovery that is done, from 0 to 1. */
  progress(share: number): void;
}

/** A restore that would not give what was asked for. Trying again cannot help; the message is for the customer. */
export class RestoreFault extends PublicError {
  override name = "RestoreFault";
}

/** The engine did not end cleanly, so that it must recover its data before that is copied from the running engine. */
export class NeedsRecovery extends PublicError {
  override name = "NeedsRecovery";
}

/** How far a restore got. */
export interface Recovered {
  /** The end of the log that was replayed; null for an engine without a log. */
  reachedLsn: string | null;
  /** The time of the last commit that was replayed, ISO 8601 with microseconds; null when there was none. */
  lastCommitAt: string | null;
}

/** The result of a verification. */
export interface Verification {
  /** How many relations, tables or keys were read. */
  checked: number;
  /** Whether all were read before the time was over. */
  isComplete: boolean;
  /** What is damaged, as sentences; a bounded number of them. */
  faults: string[];
}

/** Whether an engine still has all of its log since the latest release. */
export interface LogStatus {
  /** False when a part is gone that was not released: the archive's log ends, and a new backup must begin another. */
  isWhole: boolean;
  /** The end of the log. */
  lsn: string;
}

/** How an engine follows another by the log in that one's archive, for reading. */
export interface EngineReplica<S extends InstanceSpec = InstanceSpec> {
  /**
   * Turns unpacked data into that of a replica. Each start then replays the log that it finds and waits for more. No
   * program is started. The caller writes the data to the disk.
   * @throws RestoreFault when the data is not that of the backup.
   */
  seed(context: RestoreContext): void;
  /** The segment from which on it needs the log. It may have a part of it. @throws RestoreFault when it has no data. */
  nextSegment(dataDir: string): string;
  /**
   * Asks a running replica how far it has replayed the log, and whether that is at or after a position.
   * @throws when the engine does not answer.
   */
  hasReplayed(context: EngineContext<S>, lsn: string): Promise<{ position: string; isReached: boolean }>;
}

/** The log of an engine whose every instant can be restored. */
export interface EngineLog<S extends InstanceSpec = InstanceSpec> {
  /** Left out for the log of a Postgres. */
  format?: "binlog";
  /** Where an instance has its segments, and where those of an archive go before `recover`. */
  folder(dataDir: string): string;
  /** The size of its segments. @throws PublicError when there is no data. */
  segmentBytes(dataDir: string): number;
  /** Whether the instance of this spec keeps its log until it is released. */
  isKept(spec: S): boolean;
  /**
   * Asks a running engine for the state of its log. A log that is not whole is kept anew from now on. Idempotent.
   * @throws when the engine does not answer.
   */
  status(context: EngineContext<S>): Promise<LogStatus>;
  /** Lets a running engine delete its log before the position, the start of a segment. @throws when it does not answer. */
  release(context: EngineContext<S>, lsn: string): Promise<void>;
  /** Null for an engine that follows no other. */
  replica: EngineReplica<S> | null;
}

/** How one engine is backed up and restored. */
export interface EngineBackup<S extends InstanceSpec = InstanceSpec> {
  /** The log of the engine; null for an engine of which only backups can be restored. */
  log: EngineLog<S> | null;
  /**
   * Begins a copy of a running engine, whose session stays open until `close`.
   * @param backup the id of the backup. @param signal gives the copy up, where a customer can make its beginning long.
   * @throws PublicError when the engine cannot be copied now.
   */
  begin(context: EngineContext<S>, backup: string, signal: AbortSignal): Promise<HotCopy>;
  /**
   * The copy of a stopped engine. The caller keeps the engine from starting until the copy is done.
   * @throws NeedsRecovery when the data must be copied from the running engine, PublicError when there is none.
   */
  cold(context: EngineContext<S>): Promise<ColdCopy>;
  /** The program that unpacks a stream from its standard input into an empty folder, as the instance's user. */
  unpack(facts: Pick<BackupFacts, "format">, dataDir: string, installed: InstalledEngine): string[];
  /**
   * Brings unpacked data, with its segments, to what was asked for, and leaves it stopped, as a start with the usual
   * settings needs it. The caller writes it to the disk. The roles and passwords are still those of the source.
   * @throws RestoreFault when the data cannot be brought there; PublicError when it may work another time.
   */
  recover(context: RestoreContext): Promise<Recovered>;
  /**
   * Reads all data of a recovered throw-away copy, which may be changed by it. It gives up after `timeoutMs`.
   * @throws PublicError when the engine does not start.
   */
  verify(context: RestoreContext, timeoutMs: number): Promise<Verification>;
}
