// What the host must know of an engine to run it: files, command line, readiness, first data, the words of its failures.
import type {
  EngineName,
  Exposure,
  Figures,
  InstanceSpec,
  Limits,
  MetricsQuery,
  Series,
} from "../drivers/driver.ts";
import { PublicError } from "../lib/errors.ts";
import type { Protocol } from "../contracts/gateway-link.ts";
import type { ForeignProgram } from "./foreign-program.ts";
import type { InstalledEngine } from "./installed-engine.ts";
import type { UserList } from "./users.ts";

/** The folders and files of one instance. */
export interface InstancePaths {
  /** Written by the host, read by the engine. */
  confDir: string;
  /** The engine's own, and nobody else's. */
  dataDir: string;
  /** Where the engine makes its unix socket. */
  runDir: string;
  /** For what does not outlive the engine's process; its own as well. */
  tmpDir: string;
  /** The unix socket, for administration and for the gateway. */
  socket: string;
}

/** Who an instance's processes run as; null is the host's own user. */
export interface Account {
  uid: number;
  gid: number;
}

/** The certificate that public instances show, as file contents. */
export interface Certificate {
  cert: string;
  key: string;
}

/** Everything an engine may look at when it makes its files and commands. */
export interface EngineContext<S extends InstanceSpec> {
  /** As it was wished for, but `exposure.through` tells who listens at present: that changes at a start only. */
  spec: S;
  installed: InstalledEngine;
  paths: InstancePaths;
  limits: Limits;
  account: Account | null;
  /** The address that is listened on for the instance, when it has a port. */
  address: string;
  /** Given when clients must speak TLS with the engine itself. */
  certificate: Certificate | null;
  /** The password of the host's own user in the engine. */
  adminPassword: string;
  /** Whether webhooks may go to addresses that are not public. */
  allowPrivateWebhooks: boolean;
}

/** Runs the programs that build, as a user with a name. */
export interface Builder {
  /** @throws PublicError when the program fails; what it said is in the cause. */
  run(command: string[], input?: string): Promise<void>;
}

/** The data that an engine cannot begin without. It holds no password and nobody can log into it. */
export interface FirstData {
  /** A file or folder that is in every complete data directory and in no empty one. */
  mark: string;
  /** Changes when what is built does, so that data that was built before is not taken. */
  recipe: string;
  /** Makes a folder `data` in the given one. */
  build(installed: InstalledEngine, folder: string, builder: Builder): Promise<void>;
}

/** How an engine is used by clients that connect to it themselves. */
export interface Usage {
  /** For how long none of those that are connected has asked anything, in seconds; null when nobody is connected. */
  idleSeconds: number | null;
  /** How many connections there have been since its start, the host's own included. */
  connections: number;
  /** How many of them it took to tell this. */
  ownConnections: number;
}

/** An engine would lose what it holds if it were ended: its owner is to hear of that. */
export class PersistenceError extends PublicError {
  override name = "PersistenceError";
}

/** A customer made more than the host reads of an engine, or larger; the message says of what, for the customer. */
export class BeyondBounds extends PublicError {
  override name = "BeyondBounds";
}

/** A client's transaction keeps a running engine from being brought to its spec, for longer than is waited. */
export class LockTimeout extends PublicError {
  override name = "LockTimeout";

  constructor(cause: unknown) {
    super("A client's open transaction is in the way, so the change is not in force yet.", cause);
  }
}

/** A database that is not as the spec says. */
export interface DatabaseFault {
  name: string;
  /** Why, as a sentence that may be shown to anyone. */
  reason: string;
}

/**
 * Names of the databases that the API made; all others are the customer's own. A change is on the disk when its promise is fulfilled.
 */
export interface MadeDatabases {
  has(name: string): boolean;
  add(name: string): Promise<void>;
  remove(name: string): Promise<void>;
}

/** What is known of the data that a spec is applied to. */
export interface DataState {
  /** Whether the engine runs for the first time on its first data, so that what is in it is known. */
  isNew: boolean;
  made: MadeDatabases;
}

/** The port that the engine itself listens on; null when it has its unix socket only. */
export function ownPort({ port, through }: Exposure): number | null {
  return through === "engine" ? port : null;
}

/** One engine, as the host runs it. */
export interface Engine<S extends InstanceSpec = InstanceSpec> {
  name: EngineName;
  kind: S["kind"];
  /** The protocol that its clients speak behind the gateway; null for an engine that is never there. */
  protocol: Protocol | null;
  /** The program that others make; left out by an engine that is a part of Pilvi. */
  program?: ForeignProgram;
  /** The part of a version within which data files stay readable. */
  majorOf(version: string): string;
  /** The memory that is really granted, for a machine with `machineBytes`. */
  limits(spec: S, machineBytes: number): Limits;
  /** Files of the configuration folder, by name. */
  files(context: EngineContext<S>): Record<string, string>;
  /** Makes the data folder fit for the files, before a start; left out by an engine whose data fits any. */
  prepare?(context: EngineContext<S>): void;
  /** What follows the program on the command line. It is visible to everyone on the machine: no secret is in it. */
  args(context: EngineContext<S>): string[];
  /** The file name of the unix socket that the engine makes in its run folder. */
  socketName(spec: S): string;
  /**
   * Files in which the engine notes that it runs. They outlive a kill, and the pid in them may be a zombie's or another
   * process's by then; the instance's lock alone says who runs. Left out by an engine that does not heed any.
   */
  pidFiles?(context: EngineContext<S>): string[];
  /** Whether it asks for its port to be shared (SO_REUSEPORT) where it listens itself, so that only programs of its user can. */
  sharesPort?: boolean;
  /** The line of the log that says the engine takes connections. */
  readyLine: RegExp;
  /** How the first data is made; left out by an engine that begins with an empty folder. */
  firstData?: FirstData;
  /**
   * Brings users and databases to what the spec says, on a running engine.
   * @returns the databases that could not be brought there, while all else is as the spec says.
   * @throws LockTimeout when a client is in the way of the users.
   */
  apply?(context: EngineContext<S>, data: DataState): Promise<DatabaseFault[]>;
  /** Sets the users of the spec again, able to log in with its passwords; left out by an engine whose users only the host can change. */
  restoreUsers?(context: EngineContext<S>): Promise<void>;
  /**
   * Whether the process that runs was started by a Pilvi of another version, whose words it does not understand, and has to be started
   * anew; left out by an engine that is no part of Pilvi.
   */
  isOutdated?(context: EngineContext<S>): boolean;
  /** Whether the engine answers its administrator now. */
  isReady(context: EngineContext<S>): Promise<boolean>;
  /** Tells figures over time; left out by an engine that keeps none. */
  metrics?(context: EngineContext<S>, query: MetricsQuery): Promise<Series>;
  /** Tells the figures of the moment; left out by an engine that has none. */
  figures?(context: EngineContext<S>): Promise<Figures>;
  /** Tells clients not to come back, before the engine is killed for good; left out by one that cannot. */
  dismiss?(context: EngineContext<S>): Promise<void>;
  /**
   * Tells who must not be parted from the engine now, or what it does that must come to its end, as a sentence that may be
   * shown to anyone; null when it can be stopped with nothing lost. Sessions that only wait for their client are nobody's loss.
   * Left out by an engine that never sleeps.
   * @throws PersistenceError when it would lose what it holds.
   */
  blockingActivity?(context: EngineContext<S>): Promise<string | null>;
  /**
   * Tells who may log in, with what verifies their passwords, and how many more there are than are kept; left out by an engine
   * that has those of the spec only.
   */
  users?(context: EngineContext<S>): Promise<UserList>;
  /** Tells how it is used by clients that connect to it themselves; left out by an engine that none do of those that sleep. */
  usage?(context: EngineContext<S>): Promise<Usage>;
  /** The line of the log that says that it will not end since it cannot save; left out by an engine that always ends. */
  shutdownRefusedPattern?: RegExp;
  /** Tells the extensions that a customer can create; left out by an engine that has none. */
  extensions?(installed: InstalledEngine): { name: string; version: string }[];
  /** What the engine wants in its environment; left out when nothing. */
  env?(context: EngineContext<S>): Record<string, string>;
  /**
   * Whether each of its processes can be held to the memory of the whole by itself, where the kernel can hold them together in no other
   * way. Left out by an engine that asks for far more memory than it uses.
   */
  fitsProcessLimit?: boolean;
  /** What the kernel adds to the size of its first process, see `setOomScore`; that of customers when left out. */
  oomScore?(spec: S): number;
  /** Asks for a clean end with all data kept. */
  stopSignal: "SIGTERM" | "SIGINT";
  /** How long a clean end may take before the engine is killed, in milliseconds. */
  stopTimeoutMs: number;
  /** Says in a sentence why the engine ended, from the end of its log. */
  explain(logTail: string): string;
}
