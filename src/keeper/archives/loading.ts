// Learns from the objects at the targets which archives and backups there are.
import * as z from "zod/mini";
import { announcementSchema, archiveIdSchema, backupIdSchema } from "../../contracts/keeper.ts";
import { forEachLimited } from "../../lib/for-each-limited.ts";
import type { BackupStore } from "../backups/backup-store.ts";
import { encodeJson, readJsonObject } from "../backups/stream-object.ts";
import { archiveObject, backupObject, deletionObject, logPrefix, ownerOf } from "../names.ts";
import { DamagedObject, MissingObject, type ObjectStore, type StoredObject } from "../object-store.ts";
import { emptyArchive, type Archive } from "./archive.ts";

const READS_AT_ONCE = 8;

const archiveObjectSchema = z.strictObject({ engine: announcementSchema.shape.engine });

/** What a listing of all targets shows. */
export interface Contents {
  archives: Map<string, Archive>;
  /** The names of the objects of each log, by the archive. */
  logs: Map<string, string[]>;
  /** Archives whose deletion was begun. */
  deleted: string[];
  /** Backups whose objects are there while they do not exist. */
  leftovers: { archive: string; backup: string }[];
}

export function encodeEngine(engine: z.infer<typeof archiveObjectSchema>["engine"]): Uint8Array {
  return encodeJson({ engine });
}

/** @throws when the objects cannot be read that describe the others. @param listed all objects of the targets. */
export async function loadContents(
  listed: StoredObject[],
  store: ObjectStore,
  backups: BackupStore,
): Promise<Contents> {
  const grouped = Map.groupBy(listed, ({ name }) => ownerOf(name)?.archive ?? "");
  const contents: Contents = { archives: new Map(), logs: new Map(), deleted: [], leftovers: [] };
  for (const [id, objects] of grouped) {
    if (!archiveIdSchema.safeParse(id).success) continue;
    if (objects.some(({ name }) => name === deletionObject(id))) contents.deleted.push(id);
    else await loadArchive(id, objects, store, backups, contents);
  }
  return contents;
}

async function loadArchive(
  id: string,
  objects: StoredObject[],
  store: ObjectStore,
  backups: BackupStore,
  contents: Contents,
): Promise<void> {
  const archive = emptyArchive(id);
  archive.storedBytes = sumOf(objects);
  const names = new Set(objects.map(({ name }) => name));
  if (names.has(archiveObject(id))) {
    await noteDamage(archive, async () => {
      archive.engine = (await readJsonObject(store, archiveObject(id), archiveObjectSchema)).engine;
    });
  }
  const ofLog = objects.map(({ name }) => name).filter((name) => name.startsWith(logPrefix(id)));
  if (ofLog.length > 0) contents.logs.set(id, ofLog);
  const ids = new Set(objects.map(({ name }) => ownerOf(name)?.backup ?? ""));
  await forEachLimited([...ids].filter(isBackupId), READS_AT_ONCE, async (backup) => {
    if (!names.has(backupObject(id, backup))) contents.leftovers.push({ archive: id, backup });
    else await loadBackup(archive, backup, backups);
  });
  contents.archives.set(id, archive);
}

async function loadBackup(archive: Archive, backup: string, backups: BackupStore): Promise<void> {
  archive.damaged.add(backup);
  await noteDamage(archive, async () => {
    archive.backups.set(backup, await backups.info(archive.id, backup));
    archive.damaged.delete(backup);
  });
}

function isBackupId(name: string): boolean {
  return backupIdSchema.safeParse(name).success;
}

export function sumOf(objects: StoredObject[]): number {
  return objects.reduce((sum, { storedBytes }) => sum + storedBytes, 0);
}

/** A damaged object must not hide the others; the archive says so. */
async function noteDamage(archive: Archive, read: () => Promise<void>): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (!(error instanceof DamagedObject || error instanceof MissingObject)) throw error;
    archive.damage = `A backup of ${archive.id} cannot be read: ${error.message}.`;
  }
}
