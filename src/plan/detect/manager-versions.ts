// Which version of a package manager takes a lock file as it is; others refuse it, or would write it anew.
import type { Folder } from "../folder.ts";

/** Versions where neither the repository nor its lock file names any. */
const DEFAULTS = { pnpm: "10", classicYarn: "1.22.22", yarn: "4" } as const;

/** By the major version of a lock file. */
const PNPM_OF_LOCK: Record<string, string> = { "5": "7", "6": "8" };

/** The last line of versions that writes such a lock file. The newest versions of Yarn write 10. */
const YARN_OF_LOCK: Record<string, string> = {
  "4": "2",
  "5": "3.1",
  "6": "3",
  "7": "4.13",
  "8": "4.13",
  "9": "4.14",
};

/** @param home the folder with the lock file, if there is one. */
export function pnpmVersion(home: Folder | undefined): string {
  const version = /^lockfileVersion: *['"]?(\d+)\./m.exec(home?.lockText("pnpm-lock.yaml") ?? "")?.[1];
  return PNPM_OF_LOCK[version ?? ""] ?? DEFAULTS.pnpm;
}

/** Of the Yarn after version 1, whose lock files have a version. @param home as of `pnpmVersion`. */
export function yarnVersion(home: Folder | undefined): string {
  const version = /^__metadata:\s+version: *(\d+)/m.exec(home?.lockText("yarn.lock") ?? "")?.[1];
  return YARN_OF_LOCK[version ?? ""] ?? DEFAULTS.yarn;
}

/** Whether Yarn 1 is wanted. @param version what package.json names. */
export function isClassicYarn(version: string | undefined, home: Folder | undefined): boolean {
  if (version !== undefined) return version.startsWith("1.");
  return (
    home === undefined || (!home.has(".yarnrc.yml") && !/^__metadata:/m.test(home.lockText("yarn.lock")))
  );
}

export const CLASSIC_YARN = DEFAULTS.classicYarn;
