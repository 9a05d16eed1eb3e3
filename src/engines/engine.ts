// How the host runs an engine: its files, command line, readiness, first data, and the reasons of its failures.
import type { EngineName } from "../contracts/engine-names.ts";
import type { Figures } from "../contracts/host-answers.ts";
import type { Exposure, InstanceSpec } from "../contracts/instance-spec.ts";
import type { Limits } from "../contracts/observation.ts";
import type { CounterName, GaugeName } from "../contracts/readings.ts";
import type { Protocol } from "../contracts/gateway-link.ts";
import type { EngineEdge } from "./edge.ts";
import type { EngineBackup } from "./backup.ts";
import type { ForeignProgram } from "./foreign-program.ts";
import type { EngineInspection } from "./inspection.ts";
import type { InstalledEngine } from "./installed-engine.ts";
import type { ReadyRuntime } from "./runtimes/runtimes.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import type { ReadLine } from "./log-line.ts";
import type { UserList } from "./users.ts";

/** The folders and files of one instance. */
export interface InstancePaths {
  /** Written by the host, read by the engine. */
  confDir: string;
  /** Belongs to the engine alone. */
  dataDir: string;
  /** Where the engine makes its unix socket. */
  runDir: string;
  /** For files that do not outlive the engine's process; belongs to the engine alone. */
  tmpDir: string;
  /** The unix socket, for administration and for the gateway. */
  socket: string;
}

/** The user that an instance's processes run as; null is the host's own user. */
export interface Account {
  uid: number;
  gid: number;
}

/** The certificate that public instances show, as file contents. */
export interface Certificate {
  cert: string;
  key: string;
}

/** What a customer's application runs in and on. */
export interface ApplicationPlace {
  sandbox: Sandbox;
  runtime: ReadyRuntime;
  /** The folder of the release with the customer's files. */
  app: string;
}

/** Everything an engine may look at when it makes its files and commands. */
export interface EngineContext<S extends InstanceSpec> {
  /** The desired spec, but with the `exposure.through` in force, which changes at a start only. */
  spec: S;
  installed: InstalledEngine;
  paths: InstancePaths;
  limits: Limits;
  account: Account | null;
  /** The address to listen on, for an instance with a port. */
  address: string;
  /** Given when clients must speak TLS with the engine itself. */
  certificate: Certificate | null;
  /** The password of the host's own user in the engine. */
  adminPassword: string;
  /** Whether webhooks may go to addresses that are not public. */
  allowPrivateWebhooks: boolean;
  /** The user that may read the log of an instance that keeps it; null where processes have no users of their own. */
  logReader: Account | null;
  /** Left out unless the instance is a customer's application. */
  application?: ApplicationPlace;
}

/** Runs the programs that build data, under a user that has a name. */
export interface Builder {
  /** @throws PublicError when the program fails; its output is in the cause. */
  run(command: string[], input?: string): Promise<void>;
}

/** The data that an engine needs before its first start. It holds no password and accepts no login. */
export interface FirstData {
  /** A file or folder that exists in every complete data directory and in no empty directory. */
  mark: string;
  /** Changes with the steps of `build`, so that data of an earlier recipe is not used. */
  recipe: string;
  /** Makes a folder `data` in the given folder. */
  build(installed: InstalledEngine, folder: string, builder: Builder): Promise<void>;
}

/** How clients that connect directly use an engine. */
export interface Usage {
  /** For how many seconds all connected clients have been idle; null when no client is connected. */
  idleSeconds: number | null;
  /** How many connections the engine has had since its start, the host's own included. */
  connections: number;
  /** How many connections the host itself has made since it asked last, for these and for other figures. */
  ownConnections: number;
}

/** Figures of an engine at a moment, without those of Pilvi's own sessions where the engine has them apart. */
export interface EngineReading {
  /** Whether the counters begin with each process; else they go on over clean restarts. */
  isPerProcess: boolean;
  /** Set when the counters begin with the creation of the instance, and a kill loses nothing of them. */
  isSinceCreation?: true;
  counters: Partial<Record<CounterName, number>>;
  gauges: Partial<Record<GaugeName, number>>;
  /** The same of each part that has figures of its own, such as an application; left out by an engine without parts. */
  parts?: readonly (Pick<EngineReading, "counters" | "gauges"> & { id: string })[];
}

/** A database that differs from the spec. */
export interface DatabaseFault {
  name: string;
  /** Why, as a sentence that may be shown to anyone. */
  reason: string;
}

/**
 * Names of the databases that the API made; all others belong to the customer. A change is on the disk when its promise
 * is fulfilled.
 */
export interface MadeDatabases {
  /** Whether the data is from an origin, so that a missing database is none of it and must not be made. */
  isOfOrigin(): boolean;
  has(name: string): boolean;
  add(name: string): Promise<void>;
  remove(name: string): Promise<void>;
}

/** What the host knows of the data to which it applies a spec. */
export interface DataState {
  /** Whether the engine runs for the first time on its first data, whose content is known. */
  isNew: boolean;
  made: MadeDatabases;
}

/** The port that the engine itself listens on; null when it has only its unix socket. */
export function ownPort({ port, through }: Exposure): number | null {
  return through === "engine" ? port : null;
}

/** One engine, as the host runs it. */
export interface Engine<S extends InstanceSpec = InstanceSpec> {
  name: EngineName;
  kind: S["kind"];
  /** The protocol of its clients behind the gateway; null for an engine that is never behind it. */
  protocol: Protocol | null;
  /** The program of another project; left out by an engine that is a part of Pilvi. */
  program?: ForeignProgram;
  /** The part of a version within which data files stay readable. */
  majorOf(version: string): string;
  /** The limits in force on a machine with `machineBytes` of memory, which may be below the spec. */
  limits(spec: S, machineBytes: number): Limits;
  /** Files of the configuration folder, by name. */
  files(context: EngineContext<S>): Record<string, string>;
  /**
   * Names of files that `apply` brings to a running engine, so that a change of them needs no restart. They are written
   * after `apply`; left out by an engine without such files.
   */
  appliedFiles?: readonly string[];
  /** Adapts the data folder to the files before a start; left out by an engine whose data fits any files. */
  prepare?(context: EngineContext<S>): void;
  /** Deletes what the engine could do without, and what would make this start slow; left out where nothing can. */
  beforeStart?(context: EngineContext<S>): void;
  /** The arguments after the program. Every user of the machine can read them, so they hold no secret. */
  args(context: EngineContext<S>): string[];
  /**
   * All words of the command, for an engine that starts in a sandbox; left out by an engine that is its program with
   * `args`.
   */
  command?(context: EngineContext<S>): string[];
  /** The file name of the unix socket that the engine makes in its run folder. */
  socketName(spec: S): string;
  /**
   * Files in which the engine records that it runs. They outlive a kill, and their pid may then belong to a zombie or
   * to another process; only the instance's lock says whether the engine runs. Left out by an engine that ignores such
   * files.
   */
  pidFiles?(context: EngineContext<S>): string[];
  /**
   * Whether the engine sets SO_REUSEPORT where it listens itself, so that only programs of its own user can share the
   * port.
   */
  sharesPort?: boolean;
  /**
   * The log line with which the engine says that it takes connections; null for an engine that is asked by `isReady`
   * instead.
   */
  readyLine: RegExp | null;
  /** How long a start may take; minutes when left out. */
  startTimeoutMs?(spec: S): number;
  /** Reads a line of its log. */
  readLogLine: ReadLine;
  /** How to make the first data; left out by an engine that starts with an empty folder. */
  firstData?: FirstData;
  /**
   * Brings users and databases of a running engine to the spec.
   * @returns the databases for which that failed, while all else is as the spec says.
   * @throws LockTimeout when a client's transaction blocks the change of the users.
   */
  apply?(context: EngineContext<S>, data: DataState): Promise<DatabaseFault[]>;
  /**
   * Sets the users of the spec again, so that they can log in with its passwords; left out by an engine whose users
   * only the host can change.
   */
  restoreUsers?(context: EngineContext<S>): Promise<void>;
  /**
   * Whether a Pilvi of another version started the process that runs, if any. That process does not understand this
   * version and must be restarted. It is asked before each start as well, of whatever an earlier host or a power cut has
   * left, so it must not throw. Left out by an engine that is no part of Pilvi.
   */
  isOutdated?(context: EngineContext<S>): boolean;
  /** Whether the engine answers its administrator now. */
  isReady(context: EngineContext<S>): Promise<boolean>;
  /**
   * Whether an engine that was ready before takes connections still; left out where `isReady` judges that. A customer's
   * program that serves is left to its clients, whatever it says of itself later.
   */
  stillServes?(context: EngineContext<S>): boolean;
  /** Reads the gauges of this moment; left out by an engine that has none. */
  figures?(context: EngineContext<S>): Promise<Figures>;
  /**
   * Reports what happens in a part of the instance, one JSON object a line, until the signal is aborted; left out by an
   * engine that reports nothing.
   */
  debug?(context: EngineContext<S>, part: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** Asks clients not to reconnect, before the engine is killed for good; left out by an engine that cannot ask. */
  dismiss?(context: EngineContext<S>): Promise<void>;
  /**
   * The activity that forbids to stop the engine now, as a sentence that may be shown to anyone; null when a stop loses
   * nothing. Sessions that only wait for their client do not count. Left out by an engine that never sleeps.
   * @throws PersistenceError when a stop would lose what the engine holds.
   */
  blockingActivity?(context: EngineContext<S>): Promise<string | null>;
  /**
   * The users that may log in, with the verifiers of their passwords, and how many users are not kept; left out by an
   * engine that has only the users of the spec.
   */
  users?(context: EngineContext<S>): Promise<UserList>;
  /**
   * The secret in the data from which the engine makes the salts of unknown users, in hexadecimal digits; null while it
   * is not known. Left out by an engine that makes none.
   */
  mockNonce?(dataDir: string): string | null;
  /** How clients that connect directly use it; left out by an engine that never slept while it had such clients. */
  usage?(context: EngineContext<S>): Promise<Usage>;
  /**
   * Reads the counters and gauges of the engine, as no use of it; left out by an engine without any.
   * @throws when the engine does not answer.
   */
  reading?(context: EngineContext<S>): Promise<EngineReading>;
  /** Reads and ends what runs in it; left out by an engine that cannot say. */
  inspection?: EngineInspection<S>;
  /**
   * The log line that says that the engine will not end because it cannot save; left out by an engine that always ends.
   */
  shutdownRefusedPattern?: RegExp;
  /** How its table of routes is changed while it runs; left out by an engine that is no edge. */
  edge?: EngineEdge<S>;
  /** Whether it listens at a port that the kernel gives to root only; left out by an engine that never does. */
  needsLowPort?(spec: S): boolean;
  /** How it is backed up and restored; left out by an engine whose data is not worth it. */
  backup?: EngineBackup<S>;
  /** The extensions that a customer can create; left out by an engine that has none. */
  extensions?(installed: InstalledEngine): { name: string; version: string }[];
  /** Variables of the engine's environment; left out when it needs none. */
  env?(context: EngineContext<S>): Record<string, string>;
  /**
   * Whether the kernel may limit each process to the memory of the whole instance, where it cannot limit all processes
   * together. Left out by an engine that reserves far more memory than it uses.
   */
  fitsProcessLimit?: boolean;
  /** The OOM score adjustment of its first process, see `setOomScore`; that of customers' engines when left out. */
  oomScore?(spec: S): number;
  /**
   * How much of the processor it gets beside a busy instance, as a multiple of what that gets. Left out by engines that
   * serve their owner alone.
   */
  processorWeight?: number;
  /** Ends the engine cleanly, with all data kept. */
  stopSignal: "SIGTERM" | "SIGINT";
  /** Whether the signal goes to all processes of the group; left out by an engine that ends its own children. */
  stopsGroup?: boolean;
  /** How long a clean end may take before the engine is killed, in milliseconds. */
  stopTimeoutMs: number;
  /** The same, for an engine of which the spec says it. */
  stopTimeoutOf?(spec: S): number;
  /** Explains in a sentence why the engine ended, from the end of its log. */
  explain(logTail: string): string;
  /** Explains in a sentence why it was not ready in time; left out by an engine of which there is nothing to say. */
  explainDelay?(context: EngineContext<S>, logTail: string): string;
}
