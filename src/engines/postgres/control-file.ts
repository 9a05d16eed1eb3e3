// The control file of a Postgres' data: which cluster it is, how it ended, and where its log goes on.
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { codeOf, PublicError } from "../../lib/errors.ts";
import { inForeignFolder } from "../../lib/foreign-file.ts";

/** Postgres writes the file in one piece of this size. */
const READ_BYTES = 512;

/** Where members of struct ControlFileData are, in all of versions 14 to 18. */
const AT = {
  systemId: 0,
  state: 16,
  checkpoint: 32,
  redo: 40,
  timeline: 48,
  maxConnections: 180,
  segmentBytes: 228,
};

/** Every cluster is made with segments of this size (`--wal-segsize`). */
export const SEGMENT_BYTES = 4 * 1024 ** 2;

/** `DB_SHUTDOWNED` in enum DBState. */
const SHUT_DOWN = 1;

/** The members that a backup needs. */
export interface ControlFile {
  /** The copies of a cluster have the same. */
  systemId: bigint;
  /** Whether Postgres ended cleanly, so that the latest checkpoint is the end of its log. */
  isShutDown: boolean;
  /** Where the latest checkpoint is in the log. */
  checkpoint: bigint;
  /** Where a replay from that checkpoint begins. */
  redo: bigint;
  timeline: number;
  /** The setting of the primary whose log was replayed last, or its own. */
  maxConnections: number;
  segmentBytes: number;
}

/** @returns null while there is no data. */
export function readControlFile(dataDir: string): ControlFile | null {
  const bytes = controlFileBytes(dataDir);
  if (bytes === null) return null;
  return {
    systemId: bytes.readBigUInt64LE(AT.systemId),
    isShutDown: bytes.readUInt32LE(AT.state) === SHUT_DOWN,
    checkpoint: bytes.readBigUInt64LE(AT.checkpoint),
    redo: bytes.readBigUInt64LE(AT.redo),
    timeline: bytes.readUInt32LE(AT.timeline),
    maxConnections: bytes.readInt32LE(AT.maxConnections),
    segmentBytes: bytes.readUInt32LE(AT.segmentBytes),
  };
}

/**
 * The size of the segments of a cluster's log. The file is in the cluster's hands, and others take memory by it.
 * @throws PublicError for another size than that of all clusters.
 */
export function segmentBytesOf({ segmentBytes }: ControlFile): number {
  if (segmentBytes === SEGMENT_BYTES) return segmentBytes;
  throw new PublicError("The control file of the cluster is damaged: its log has segments of another size.");
}

/** @returns null while there is no data, and for a file that cannot be a control file. */
export function controlFileBytes(dataDir: string): Buffer | null {
  const bytes = inForeignFolder(join(dataDir, "global"), (folder) =>
    readStart(join(folder, "pg_control"), READ_BYTES),
  );
  return bytes === null || bytes.length < READ_BYTES ? null : bytes;
}

/** The first bytes of a file. The folder belongs to the engine, so its file may be anything; only a regular file is read. */
export function readStart(path: string, length: number): Buffer {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP", "EACCES"].includes(codeOf(error) ?? "")) return Buffer.alloc(0);
    throw error;
  }
  try {
    if (!fstatSync(fd).isFile()) return Buffer.alloc(0);
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(fd, bytes, 0, length, 0));
  } finally {
    closeSync(fd);
  }
}
