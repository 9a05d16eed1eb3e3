// Checks the targets of backups: whether a lost disk leaves any.
import { existsSync, statSync } from "node:fs";
import { dirname, sep } from "node:path";
import type { Config } from "../../config.ts";
import { type Finding, ok, warn } from "./finding.ts";

/** @returns a finding for all targets together, and for each folder that cannot be made. */
export function checkBackups({ dataDir, backups: { targets } }: Config): Finding[] {
  const folders = targets.filter((target) => target.type === "folder").map(({ path }) => path);
  // The first start makes the data directory, and the folder for backups in it.
  const lost = folders.filter(
    (path) => !existsSync(path) && !existsSync(dirname(path)) && !path.startsWith(`${dataDir}${sep}`),
  );
  return [
    placeFinding(
      dataDir,
      folders.filter((path) => !lost.includes(path)),
      targets.some(({ type }) => type === "s3"),
    ),
    ...lost.map((path) =>
      warn(
        `folder for backups ${path}: ${dirname(path)} is not there`,
        "Make that folder, or mount its disk.",
      ),
    ),
  ];
}

function placeFinding(dataDir: string, folders: string[], hasBucket: boolean): Finding {
  const device = deviceOf(dataDir);
  if (hasBucket || folders.some((path) => deviceOf(path) !== device))
    return ok("backups outlive the disk of the data");
  return warn(
    `backups are on the same disk as the data (${folders.join(", ")})`,
    "Set PILVI_BACKUP_TARGETS to a folder on another disk, or to a bucket.",
  );
}

/** The device of a path, or of the lowest folder above it that exists. */
function deviceOf(path: string): number {
  return existsSync(path) ? statSync(path).dev : deviceOf(dirname(path));
}
