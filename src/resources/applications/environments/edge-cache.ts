// The marks of purges, which are a part of the version of what the edge keeps.
import { randomBytes } from "node:crypto";
import type { EnvironmentSettings } from "./settings.ts";

const PURGE_BYTES = 16;

/** The mark of a purge, which no other purge has. */
export function newPurge(): string {
  return randomBytes(PURGE_BYTES).toString("hex");
}

/** Whether each deployment purges. */
export function purgesOnDeploy({
  uses_purge_edge_cache_on_deploy: isUsed = true,
}: EnvironmentSettings): boolean {
  return isUsed;
}

/**
 * The mark after a change of settings. Another answer to whether deployments purge is a purge: what the edge has kept
 * under an earlier answer may be older than a deployment that has purged since.
 */
export function purgeAfter(
  former: EnvironmentSettings,
  next: EnvironmentSettings,
): { edge_cache_purge?: string } {
  return purgesOnDeploy(former) === purgesOnDeploy(next) ? {} : { edge_cache_purge: newPurge() };
}
