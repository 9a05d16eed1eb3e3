// How the host runs a Redis or a Valkey, which differ here only in their names.
import { join } from "node:path";
import type { CacheSpec } from "../../contracts/instance-spec.ts";
import type { Limits } from "../../contracts/observation.ts";
import type { ForeignProgram } from "../foreign-program.ts";
import type { Engine } from "../engine.ts";
import { firstNumbers } from "../versions.ts";
import { grantedMemory } from "../memory.ts";
import { blockingActivity, isReady, reading, setUsers, usage } from "./admin.ts";
import { backup } from "./backup/index.ts";
import { configFiles, SOCKET_NAME, USERS_FILE } from "./config.ts";
import { readLogLine } from "./log-line.ts";
import { totalMemory } from "./memory.ts";
import { adoptSnapshot } from "./persistence.ts";

/** The engine, its threads that free and write, and a child that saves. */
const MAX_PROCESSES = 64;

/**
 * Expired keys are published: customers cannot switch that on, and it costs nothing as long as no key expires. Events of
 * commands would cost each DEL and EXPIRE. It is no line of the configuration, whose change restarts running engines.
 */
const EVENTS = ["--notify-keyspace-events", "Ex"];

/** Builds the engine of a program that is a Redis or a Valkey. */
export function redisLike(
  name: "redis" | "valkey",
  program: ForeignProgram,
): Engine<CacheSpec> & { program: ForeignProgram } {
  return {
    name,
    kind: "cache",
    protocol: "redis",
    program,
    majorOf: (version) => firstNumbers(version, 1),
    limits,
    files: configFiles,
    appliedFiles: [USERS_FILE],
    prepare: adoptSnapshot,
    args: ({ paths }) => [join(paths.confDir, "engine.conf"), ...EVENTS],
    socketName: () => SOCKET_NAME,
    // Up to Redis 7.0 an engine with only a unix socket says it in other words: "The server is now ready to …".
    readyLine: /[Rr]eady to accept connections/,
    readLogLine,
    fitsProcessLimit: true,
    apply: async (context) => {
      await setUsers(context);
      return [];
    },
    isReady,
    blockingActivity,
    usage,
    reading,
    backup,
    shutdownRefusedPattern: /can't exit|Errors trying to shut down/i,
    stopSignal: "SIGTERM",
    // The engine may first have to write all keys. `pilvi up` waits some longer than this for a host that ends.
    stopTimeoutMs: 80_000,
    explain,
  };
}

function limits(spec: CacheSpec, machineBytes: number): Limits {
  const memoryBytes = grantedMemory(spec.memoryBytes, machineBytes);
  return {
    memoryBytes,
    totalMemoryBytes: Math.min(totalMemory(memoryBytes), machineBytes),
    maxProcesses: MAX_PROCESSES,
    enforcedBy: "engine",
  };
}

function explain(logTail: string): string {
  const taken = /Could not create server TCP listening socket \S*?:(\d+): bind: Address already in use/.exec(
    logTail,
  );
  if (taken !== null) return `Port ${taken[1]} is in use by another program on this machine.`;
  if (logTail.includes("No space left on device")) return "The disk of the host is full.";
  if (/Bad file format|Wrong signature|Unexpected EOF|Short read|Internal error in RDB/i.test(logTail)) {
    return "The saved data cannot be read; the engine's log on the host says why.";
  }
  if (logTail.includes("Can't open or create append-only dir") || logTail.includes("Permission denied")) {
    return "The engine may not read or write its own data folder.";
  }
  return "The engine ended before it was ready; its log on the host says why.";
}
