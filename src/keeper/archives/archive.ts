// What the keeper knows of one archive, in memory; all of it is in the archive's objects as well.
import type { ArchiveEngine, BackupInfo } from "../../contracts/keeper.ts";

export interface Archive {
  readonly id: string;
  engine: ArchiveEngine | null;
  /** The complete backups by id. */
  readonly backups: Map<string, BackupInfo>;
  /** Of all its objects at one target, as of the latest listing. */
  storedBytes: number;
  /** Backups whose facts cannot be read. */
  readonly damaged: Set<string>;
  /** What of it cannot be read, as a sentence for the operator. */
  damage: string | null;
  /** Why its latest request failed, as a sentence for the operator. */
  lastError: string | null;
}

export function emptyArchive(id: string): Archive {
  return {
    id,
    engine: null,
    backups: new Map(),
    damaged: new Set(),
    storedBytes: 0,
    damage: null,
    lastError: null,
  };
}

/** Takes over what a listing shows of an archive; backups that are known stay. */
export function takeOver(known: Archive, listed: Archive): void {
  known.engine ??= listed.engine;
  known.damage = listed.damage;
  known.damaged.clear();
  for (const backup of listed.damaged) known.damaged.add(backup);
  known.storedBytes = listed.storedBytes;
  for (const [backup, info] of listed.backups) known.backups.set(backup, info);
}
