// Moves the data of another instance into the place of an instance's own. Each step can be taken again after a kill.
import { existsSync, renameSync } from "node:fs";
import { rm } from "node:fs/promises";
import { adoptedBy } from "../../contracts/instance-spec.ts";
import { codeOf, PublicError } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { databasesOf } from "../manifest/made-databases.ts";
import type { ManifestFile } from "../manifest/manifest-file.ts";
import { isAdoptionDue } from "../manifest/spec-change.ts";
import { instanceFolder, type InstanceFolder } from "../os/layout.ts";

/** The instance that takes over data; no engine of it runs. */
interface Adopter {
  settings: { dataDir: string };
  folder: Pick<InstanceFolder, "data" | "incoming" | "former">;
  file: ManifestFile;
  /** Stops the instance that gives its data. */
  stop(id: string): Promise<void>;
}

/**
 * Takes over the data that the spec names, unless that is done. Until the new data is in the folder of the instance and
 * the manifest says so, the former data stays in its place.
 * @throws PublicError when there is no such data; the former stays.
 */
export async function adoptData(parts: Adopter): Promise<void> {
  const { folder, file } = parts;
  if (file.manifest !== null && isAdoptionDue(file.manifest)) await take(parts);
  if (existsSync(folder.incoming)) {
    await rm(folder.former, { recursive: true, force: true });
    if (existsSync(folder.data)) renameSync(folder.data, folder.former);
    await failpoint("host.adopt.parted");
    renameSync(folder.incoming, folder.data);
    await failpoint("host.adopt.placed");
  }
  if (existsSync(folder.former)) await rm(folder.former, { recursive: true, force: true });
}

/** Moves the data into the folder of the instance, and notes that. */
async function take({ settings, folder, file, stop }: Adopter): Promise<void> {
  const spec = file.manifest?.spec;
  const giver = spec === undefined ? null : adoptedBy(spec);
  if (spec === undefined || giver === null) return;
  await stop(giver);
  await failpoint("host.adopt.stopped");
  if (!existsSync(folder.incoming)) moveData(instanceFolder(settings.dataDir, giver).data, folder.incoming);
  await failpoint("host.adopt.taken");
  // A database of the spec that is not in the data is missing in it, and all others are known to be in it.
  const madeDatabases = databasesOf(spec).map(({ name }) => name);
  await file.change({ adopted: giver, isRestored: true, madeDatabases });
  await failpoint("host.adopt.noted");
}

function moveData(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    throw new PublicError("The data that was to take the place of the present data is gone.", error);
  }
}
