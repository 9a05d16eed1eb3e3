// How the host runs HAProxy, the edge in front of applications.
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { EdgeSpec } from "../../contracts/instance-spec.ts";
import type { Limits } from "../../contracts/observation.ts";
import { OWN_OOM_SCORE } from "../../lib/oom-score.ts";
import { openFileLimit } from "../../lib/open-files.ts";
import type { Engine } from "../engine.ts";
import type { ForeignProgram } from "../foreign-program.ts";
import { plainLine } from "../log-line.ts";
import { grantedMemory } from "../memory.ts";
import { CACHE_MEGABYTES } from "./cache.ts";
import { FILES_OF_CONNECTION } from "./crowds.ts";
import { configFiles, probeSecret } from "./config.ts";
import { MAX_PROBES } from "./frontends.ts";
import { CERTIFICATE_FILE, CONFIG_FILE, MAPS, PROBE_SOCKET_NAME, SOCKET_NAME } from "./paths.ts";
import { program } from "./program.ts";
import { READY_LINE } from "./ready-line.ts";
import { changeTable, isReady, mapFile, readTable, readUsage, showCertificate, textsOf } from "./runtime.ts";

/** HAProxy with its maps, the tables that it counts clients and routes in, and its cache. */
const OWN_MEMORY_BYTES = (256 + CACHE_MEGABYTES) * 1024 ** 2;
/** The requests of all customers pass it, however many of their applications keep the processors busy. */
const PROCESSOR_WEIGHT = 16;
/** A client's connection and those to applications: two buffers of 16 kB each, and TLS. */
const CONNECTION_BYTES = 128 * 1024;
const OWN_OPEN_FILES = 128 + 4 * availableParallelism() + FILES_OF_CONNECTION * MAX_PROBES;

export const haproxy: Engine<EdgeSpec> & { program: ForeignProgram } = {
  name: "haproxy",
  kind: "edge",
  protocol: null,
  program,
  // It keeps no data, so any version can follow any other.
  majorOf: () => "any",
  limits,
  files: (context) => configFiles({ ...context, spec: granted(context.spec, context.limits) }),
  appliedFiles: [CERTIFICATE_FILE],
  // The whole path, by which a person sees in a list of processes whose this is.
  args: ({ paths }) => ["-db", "-f", join(paths.confDir, CONFIG_FILE)],
  socketName: () => SOCKET_NAME,
  sharesPort: true,
  readyLine: new RegExp(`^${READY_LINE}$`, "m"),
  readLogLine: plainLine,
  apply: async (context) => {
    if (context.spec.httpsPort !== null && context.certificate !== null)
      await showCertificate(context, context.certificate);
    return [];
  },
  isReady,
  edge: {
    files: (table) => ({ [MAPS.names]: mapFile(table.names), [MAPS.targets]: mapFile(textsOf(table)) }),
    read: readTable,
    change: changeTable,
    usage: readUsage,
    probeSecret,
    probeSocket: ({ paths }) => join(paths.runDir, PROBE_SOCKET_NAME),
    show: showCertificate,
  },
  needsLowPort: ({ exposure, httpsPort }) =>
    [exposure.port, httpsPort].some((port) => port !== null && port < FIRST_FREE_PORT),
  oomScore: () => OWN_OOM_SCORE,
  processorWeight: PROCESSOR_WEIGHT,
  stopSignal: "SIGTERM",
  stopTimeoutMs: 10_000,
  explain,
};

/** The kernel gives lower ports to root, and to processes with the capability for them. */
const FIRST_FREE_PORT = 1_024;

function limits({ maxConnections }: EdgeSpec, machineBytes: number): Limits {
  const possible = Math.floor((openFileLimit() - OWN_OPEN_FILES) / FILES_OF_CONNECTION);
  const connections = Math.max(1, Math.min(maxConnections, possible));
  return {
    memoryBytes: grantedMemory(OWN_MEMORY_BYTES + connections * CONNECTION_BYTES, machineBytes),
    maxConnections: connections,
    maxProcesses: availableParallelism() + 16,
    enforcedBy: "engine",
  };
}

/** HAProxy refuses to start with more connections than it may open files for. */
function granted(spec: EdgeSpec, { maxConnections = spec.maxConnections }: Limits): EdgeSpec {
  return { ...spec, maxConnections };
}

function explain(logTail: string): string {
  const taken = /\(Address already in use\) for \[\S*?:(\d+)\]/.exec(logTail);
  if (taken !== null) return `Port ${taken[1]} is in use by another program on this machine.`;
  const denied = /\(Permission denied\) for \[\S*?:(\d+)\]/.exec(logTail);
  if (denied !== null)
    return `Port ${denied[1]} may be used by root only, and Pilvi was not started by root.`;
  if (logTail.includes("No space left on device")) return "The disk of the host is full.";
  return "The edge ended before it was ready; its log on the host says why.";
}
