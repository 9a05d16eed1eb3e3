// How a Redis or Valkey keeps its keys on the disk: as snapshots or as a log of every command, and how it turns to the
// log.
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { CacheSpec, EvictionPolicy } from "../../contracts/instance-spec.ts";
import type { EngineContext, InstancePaths } from "../engine.ts";

/** The engines' own names for their files in the data folder. */
export const SNAPSHOT = "dump.rdb";
export const LOG_FOLDER = "appendonlydir";
/**
 * The log's name before version 7. An engine that finds such a file, and no log folder, begins its log with it, even
 * when it is a snapshot. A stop within that does no harm: the next start goes on.
 */
const FORMER_LOG = "appendonly.aof";

/** The settings of persistence. */
export function persistence({ spec, paths }: EngineContext<CacheSpec>): string[] {
  if (keepsLog(spec, paths)) return ["appendonly yes", "appendfsync everysec", 'save ""'];
  return ["appendonly no", "save 60 1"];
}

/** Makes an engine that keeps a log from now on begin the log with the snapshot, which it would otherwise ignore. */
export function adoptSnapshot({ spec, paths }: EngineContext<CacheSpec>): void {
  const snapshot = join(paths.dataDir, SNAPSHOT);
  if (!keepsEveryKey(spec.evictionPolicy) || hasLog(paths) || !existsSync(snapshot)) return;
  renameSync(snapshot, join(paths.dataDir, FORMER_LOG));
}

/** An engine with a log goes on with it, whatever its policy has become: its keys are nowhere else. */
function keepsLog({ evictionPolicy }: CacheSpec, paths: InstancePaths): boolean {
  return keepsEveryKey(evictionPolicy) || hasLog(paths);
}

/** Whether a crash may lose only the last seconds: a policy that drops any key says that the keys can be made again. */
function keepsEveryKey(policy: EvictionPolicy): boolean {
  return !policy.startsWith("allkeys-");
}

/**
 * The files in a data folder that hold the keys: the parts of the log, or else the snapshot, which an engine with a log
 * does not read. None before the first save.
 */
export function dataFiles({ dataDir }: Pick<InstancePaths, "dataDir">): string[] {
  const present = [LOG_FOLDER, FORMER_LOG, SNAPSHOT].filter((name) => existsSync(join(dataDir, name)));
  return present.includes(LOG_FOLDER) || present.includes(FORMER_LOG)
    ? present.filter((name) => name !== SNAPSHOT)
    : present;
}

/** Deletes a snapshot that was made only to be copied, since the engine keeps its keys in a log. */
export function removeSnapshot({ paths }: EngineContext<CacheSpec>): void {
  if (hasLog(paths)) rmSync(join(paths.dataDir, SNAPSHOT), { force: true });
}

function hasLog({ dataDir }: Pick<InstancePaths, "dataDir">): boolean {
  return [LOG_FOLDER, FORMER_LOG].some((name) => existsSync(join(dataDir, name)));
}
