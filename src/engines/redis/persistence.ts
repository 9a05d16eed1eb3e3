// How a Redis or Valkey keeps its keys on the disk: as snapshots, or as a log of every command, and how it goes over to the log.
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { CacheSpec, EvictionPolicy } from "../../drivers/driver.ts";
import type { EngineContext, InstancePaths } from "../engine.ts";

/** The names that the engines give to their files by themselves, in the data folder. */
const SNAPSHOT = "dump.rdb";
const LOG_FOLDER = "appendonlydir";
/**
 * What versions before 7 named the log. An engine that finds such a file, and no folder, begins its log with it, also when it is a
 * snapshot; where it is stopped within that, the next start goes on.
 */
const FORMER_LOG = "appendonly.aof";

/** The settings for it. */
export function persistence({ spec, paths }: EngineContext<CacheSpec>): string[] {
  if (keepsLog(spec, paths)) return ["appendonly yes", "appendfsync everysec", 'save ""'];
  return ["appendonly no", "save 60 1"];
}

/** Has an engine that is to keep a log from now on begin it with the snapshot, which it would not look at otherwise. */
export function adoptSnapshot({ spec, paths }: EngineContext<CacheSpec>): void {
  const snapshot = join(paths.dataDir, SNAPSHOT);
  if (!keepsEveryKey(spec.evictionPolicy) || hasLog(paths) || !existsSync(snapshot)) return;
  renameSync(snapshot, join(paths.dataDir, FORMER_LOG));
}

/** One that has a log goes on with it, whatever its policy has become: its keys are there and nowhere else. */
function keepsLog({ evictionPolicy }: CacheSpec, paths: InstancePaths): boolean {
  return keepsEveryKey(evictionPolicy) || hasLog(paths);
}

/** Whether a crash may lose the last seconds only: a policy that drops any key says that the keys can be made again. */
function keepsEveryKey(policy: EvictionPolicy): boolean {
  return !policy.startsWith("allkeys-");
}

function hasLog({ dataDir }: InstancePaths): boolean {
  return [LOG_FOLDER, FORMER_LOG].some((name) => existsSync(join(dataDir, name)));
}
