// The manifest of an instance: its spec and all that the host needs to start it without a control plane.
import { existsSync } from "node:fs";
import { manifestFrom, manifestText, NewerManifest, type Manifest } from "../../contracts/manifest.ts";
import { boundedUsers } from "../../engines/users.ts";
import { codeOf } from "../../lib/errors.ts";
import { keepFile, keptPath, replaceFile } from "../../lib/files.ts";
import { readBounded } from "./manifest-text.ts";

export type { Manifest, PersistedState } from "../../contracts/manifest.ts";
export { neverAsleep, type SleepRecord } from "../../contracts/sleep.ts";

/** Whether the manifest records a sleep. The record precedes the end of the engine. */
export function saysAsleep(manifest: Pick<Manifest, "state"> | null): boolean {
  return manifest?.state === "asleep" || manifest?.state === "asleepApplied";
}

/**
 * Reads a manifest. A power cut can leave the file empty; the last durable copy is read then.
 * @returns null when the file does not exist.
 * @throws NewerManifest when a newer Pilvi wrote it, another error when it cannot be understood; the instance's data
 * must then be left alone.
 */
export function readManifest(path: string): Manifest | null {
  try {
    const text = readBounded(path) || readBounded(keptPath(path));
    return withBoundedUsers(manifestFrom(text));
  } catch (error) {
    if (codeOf(error) === "ENOENT" && !existsSync(path)) return null;
    if (error instanceof NewerManifest) throw error;
    throw new Error(`the manifest ${path} cannot be understood`, { cause: error });
  }
}

/** Earlier releases kept all users that an engine reported. */
function withBoundedUsers(manifest: Manifest): Manifest {
  const { spec, sleep } = manifest;
  if (sleep.users === null) return manifest;
  const { users, leftOut } = boundedUsers({ users: sleep.users, leftOut: sleep.usersLeftOut }, spec.users);
  return { ...manifest, sleep: { ...sleep, users, usersLeftOut: leftOut } };
}

/** Replaces the manifest without a disk sync; a power cut may undo it. */
export function noteManifest(path: string, manifest: Manifest): void {
  replaceFile(path, manifestText(manifest), 0o600);
}

/** Replaces the manifest at once; the promise is fulfilled when a power cut can no longer undo it. */
export function writeManifest(path: string, manifest: Manifest): Promise<void> {
  noteManifest(path, manifest);
  return keepFile(path);
}
