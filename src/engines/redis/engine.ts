// How the host runs a Redis or a Valkey, which differ in nothing that matters here but their name.
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import type { CacheSpec, Limits } from "../../drivers/driver.ts";
import type { Engine, EngineContext } from "../engine.ts";
import { grantedMemory } from "../memory.ts";
import { ADMIN_NAME, configFiles, SOCKET_NAME } from "./config.ts";

/** Builds the engine under the name of the program that runs. */
export function redisLike(name: "redis" | "valkey"): Engine<CacheSpec> {
  return {
    name,
    kind: "cache",
    limits,
    files: configFiles,
    args: ({ paths }) => [join(paths.confDir, "engine.conf")],
    socketName: () => SOCKET_NAME,
    readyLine: /Ready to accept connections/,
    isReady,
    stopSignal: "SIGTERM",
    stopTimeoutMs: 20_000,
    explain,
  };
}

function limits(spec: CacheSpec, machineBytes: number): Limits {
  return { memoryBytes: grantedMemory(spec.memoryBytes, machineBytes), enforcedBy: "engine" };
}

async function isReady({ paths, adminPassword }: EngineContext<CacheSpec>): Promise<boolean> {
  // Bun's client takes no path with a character that a URL would escape, nor a long one, so the folder is named by a descriptor.
  const folder = openSync(paths.runDir, "r");
  const address = `/proc/self/fd/${folder}/${SOCKET_NAME}`;
  const client = new Bun.RedisClient(`redis+unix://${ADMIN_NAME}:${adminPassword}@localhost${address}`, {
    autoReconnect: false,
    connectionTimeout: 1_000,
  });
  try {
    return (await client.ping()) === "PONG";
  } catch {
    // Refused, still loading, or gone: in each case not ready.
    return false;
  } finally {
    client.close();
    closeSync(folder);
  }
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
