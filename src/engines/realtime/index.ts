// How the host runs a realtime server, which is a part of Pilvi: Bun with the built code of `src/realtime`.
import { availableParallelism } from "node:os";
import { join } from "node:path";
import * as z from "zod/mini";
import { MAX_PAYLOAD_BYTES, type ProcessConfig } from "../../contracts/realtime.ts";
import { REALTIME_VERSION } from "../../contracts/versions.ts";
import type { RealtimeSpec } from "../../contracts/instance-spec.ts";
import type { Limits } from "../../contracts/observation.ts";
import { PublicError } from "../../lib/errors.ts";
import { readIfPresent } from "../../lib/files.ts";
import { openFileLimit } from "../../lib/open-files.ts";
import type { Engine, EngineContext } from "../engine.ts";
import { grantedMemory } from "../memory.ts";
import { applySpec, debug, dismiss, figures, isReady, reading } from "./control.ts";
import { readLogLine } from "./log-line.ts";

const CONFIG_FILE = "realtime.json";
const versioned = z.looseObject({ version: z.literal(REALTIME_VERSION) });

/** Open files of the server beside clients' connections: its own files, requests to publish, webhooks. */
const OWN_OPEN_FILES = 128;

/**
 * Memory of the server with its compiled code, of channels, of queues for slow clients and webhooks, and of bursts between
 * two garbage collections.
 */
const OWN_MEMORY_BYTES = 768 * 1024 ** 2;
/** A connection with its subscriptions, of which most clients have a few, and with a message that is not complete yet. */
const CONNECTION_BYTES = 64 * 1024 + MAX_PAYLOAD_BYTES;

/** Threads of Bun: a fixed number, and more for each processor. */
const OWN_THREADS = 96;
const THREADS_PER_CPU = 8;

/** The environment of the process. */
export const REALTIME_ENV = {
  // The process has no home folder in which Bun could keep a cache.
  BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0",
  // The last stage of compilation costs the first hundred thousand connections more than it saves them.
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: "1000000",
};

export const realtime: Engine<RealtimeSpec> = {
  name: "realtime",
  kind: "realtime",
  protocol: null,
  // The server is replaced together with Pilvi, and every version reads the data of an earlier version.
  majorOf: () => "any",
  limits,
  files: (context) => ({ [CONFIG_FILE]: `${JSON.stringify(processConfig(context))}\n` }),
  args: ({ installed, paths }) => [installed.script ?? "", join(paths.confDir, CONFIG_FILE)],
  socketName: () => "control.sock",
  sharesPort: true,
  readyLine: /realtime server is ready/,
  readLogLine,
  apply: async (context) => {
    await applySpec(context);
    return [];
  },
  isReady,
  isOutdated,
  figures,
  reading,
  debug,
  dismiss,
  env: () => REALTIME_ENV,
  stopSignal: "SIGTERM",
  // The server sends clients away over some seconds, so that they do not all come back at once.
  stopTimeoutMs: 20_000,
  explain,
};

function limits({ maxConnections }: RealtimeSpec, machineBytes: number): Limits {
  const desiredBytes = OWN_MEMORY_BYTES + maxConnections * CONNECTION_BYTES;
  return {
    memoryBytes: grantedMemory(desiredBytes, machineBytes),
    maxConnections: connectionsWithin(openFileLimit(), maxConnections),
    maxProcesses: OWN_THREADS + THREADS_PER_CPU * availableParallelism(),
    enforcedBy: "engine",
  };
}

/**
 * The connections that the limit of open files has room for. A server at that limit could neither refuse a client nor
 * receive a change, and would retry waiting connections without a pause.
 */
export function connectionsWithin(openFiles: number, wanted: number): number {
  return Math.max(1, Math.min(wanted, openFiles - OWN_OPEN_FILES));
}

/**
 * Settings that the server reads once, at its start. All else is sent to the running server, so that no change ends it.
 */
function processConfig({
  spec,
  paths,
  address,
  certificate,
  allowPrivateWebhooks,
}: EngineContext<RealtimeSpec>): ProcessConfig {
  const { port } = spec.exposure;
  if (port === null) throw new PublicError(`${spec.id} has no port to listen at.`);
  return {
    version: REALTIME_VERSION,
    id: spec.id,
    address,
    port,
    controlSocket: paths.socket,
    dataDir: paths.dataDir,
    certificate,
    allowPrivateWebhooks,
  };
}

/**
 * A server of another version would understand no message of this version. A file that cannot be read, as a power cut
 * may leave it, says nothing of the version; the start writes it anew.
 */
function isOutdated({ paths }: EngineContext<RealtimeSpec>): boolean {
  try {
    const text = readIfPresent(join(paths.confDir, CONFIG_FILE));
    return text !== null && !z.safeParse(versioned, JSON.parse(text)).success;
  } catch {
    return true;
  }
}

function explain(logTail: string): string {
  if (logTail.includes("ENOSPC")) return "The disk of the host is full.";
  return "The realtime server ended before it was ready; its log on the host says why.";
}
