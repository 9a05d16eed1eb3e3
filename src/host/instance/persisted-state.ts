// Reads the persisted state of an instance from its folder.
import { existsSync, rmSync, statSync } from "node:fs";
import { NewerManifest } from "../../contracts/manifest.ts";
import type { Log } from "../../lib/log.ts";
import type { InstanceFolder } from "../os/layout.ts";
import type { ManifestFile } from "../manifest/manifest-file.ts";
import type { Manifest } from "../manifest/manifest.ts";

/** The reason why a manifest cannot be used, as a public sentence. */
interface Unusable {
  unusable: string;
}

/** @returns the manifest, null when there is nothing to take up, or the reason why the manifest cannot be used. */
export function readPersistedState(
  id: string,
  file: ManifestFile,
  folder: InstanceFolder,
  log: Log,
): Manifest | Unusable | null {
  try {
    const manifest = file.read();
    if (manifest !== null) return manifest;
  } catch (error) {
    // A power cut has left the first manifest empty, before anything of the instance was made.
    if (isEmpty(folder.manifest) && !existsSync(folder.data)) {
      rmSync(folder.path, { recursive: true, force: true });
      return null;
    }
    log.error({ error }, "the manifest cannot be understood");
    if (error instanceof NewerManifest) return { unusable: error.message };
    return {
      unusable: `The manifest of ${id} on the host cannot be understood; its data was left alone.`,
    };
  }
  // A create was cut short before it wrote the manifest, or a removal just before its end.
  if (!existsSync(folder.data)) rmSync(folder.path, { recursive: true, force: true });
  else log.error("a folder with data has no manifest and was left alone");
  return null;
}

function isEmpty(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.size === 0;
}
