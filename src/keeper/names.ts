// The names of the objects of an archive; ARCHITECTURE.md has the whole list.

export const ARCHIVES = "archives/";

/** How long a backup's stream is cut into: objects of this size at most, before compression. */
export const PART_BYTES = 16 * 1024 ** 2;

/** What the names of an archive's objects begin with. */
export function archivePrefix(archive: string): string {
  return `${ARCHIVES}${archive}/`;
}

/** The engine of an archive. */
export function archiveObject(archive: string): string {
  return `${archivePrefix(archive)}archive.json`;
}

/** Marks an archive that is being deleted. */
export function deletionObject(archive: string): string {
  return `${archivePrefix(archive)}deleted.json`;
}

/** What the names of a log's objects begin with. */
export function logPrefix(archive: string): string {
  return `${archivePrefix(archive)}log/`;
}

export function backupPrefix(archive: string, backup: string): string {
  return `${archivePrefix(archive)}backups/${backup}/`;
}

/** Written last; without it the backup does not exist. */
export function backupObject(archive: string, backup: string): string {
  return `${backupPrefix(archive, backup)}backup.json`;
}

/** Written when the whole stream is stored; lists its parts. */
export function streamObject(archive: string, backup: string): string {
  return `${backupPrefix(archive, backup)}stream.json`;
}

export function partsPrefix(archive: string, backup: string): string {
  return `${backupPrefix(archive, backup)}parts/`;
}

export function partObject(archive: string, backup: string, index: number): string {
  return `${partsPrefix(archive, backup)}${String(index).padStart(6, "0")}`;
}

/** The archive, and the backup if any, that an object belongs to; null for other objects. */
export function ownerOf(name: string): { archive: string; backup: string | null } | null {
  const [, archive, backup] = /^archives\/([^/]+)\/(?:backups\/([^/]+)\/)?/.exec(name) ?? [];
  return archive === undefined ? null : { archive, backup: backup ?? null };
}

/** The part of a name up to its last slash. */
export function folderOf(name: string): string {
  return name.slice(0, name.lastIndexOf("/") + 1);
}
