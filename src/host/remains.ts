// What an earlier host left of an instance in its folder.
import { existsSync, rmSync } from "node:fs";
import type { Log } from "../lib/log.ts";
import type { InstanceFolder } from "./layout.ts";
import type { ManifestFile } from "./manifest-file.ts";
import type { Manifest } from "./manifest.ts";

/** @returns the manifest, null when there is nothing to take up, or "unusable" when the manifest cannot be understood. */
export function readRemains(
  file: ManifestFile,
  folder: InstanceFolder,
  log: Log,
): Manifest | "unusable" | null {
  try {
    const manifest = file.read();
    if (manifest !== null) return manifest;
  } catch (error) {
    log.error({ error }, "the manifest cannot be understood");
    return "unusable";
  }
  // A create was cut short before its wish was written down, or a removal just before its end.
  if (!existsSync(folder.data)) rmSync(folder.path, { recursive: true, force: true });
  else log.error("a folder with data has no manifest and was left alone");
  return null;
}
