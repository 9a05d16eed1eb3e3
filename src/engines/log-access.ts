// Lets the keeper read the log of a stopped engine, and nothing else of its data, or takes that right away again.
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
} from "node:fs";
import { join } from "node:path";
import { codeOf } from "../lib/errors.ts";
import type { Account } from "./engine.ts";

/**
 * The group of the data folder passes through it, and that of the log's folder is inherited by new files. Engines make
 * files there that their group can read; all other files have the instance's own group.
 */
const READABLE = { data: 0o750, log: 0o2750, file: 0o640 };
const CLOSED = 0o700;

/** The data folder of an instance, and the folder in it that has the log; null when there is no log. */
interface LogPlace {
  dataDir: string;
  folder: string | null;
  account: Account | null;
  /** The user that may read the log; null for none. */
  reader: Account | null;
}

/** Brings the access to the log to what the place says, before a start. */
export function shareLog({ dataDir, folder, account, reader }: LogPlace): void {
  // Without users of their own, all processes may read everything.
  if (account === null) return;
  const owner = { uid: account.uid, gid: reader?.gid ?? account.gid };
  const mode = reader === null ? CLOSED : READABLE.log;
  if (folder !== null && !hasAccess(folder, owner, mode)) {
    if (reader !== null) for (const name of readdirSync(folder)) share(join(folder, name), owner);
    give(folder, owner, mode);
  }
  give(dataDir, owner, reader === null ? CLOSED : READABLE.data);
}

function hasAccess(folder: string, { uid, gid }: Account, mode: number): boolean {
  const stats = lstatSync(folder);
  return stats.uid === uid && stats.gid === gid && (stats.mode & 0o7777) === mode;
}

/** The engine owns the folder above, so a link may take the place of the folder at any moment. */
function give(folder: string, owner: Account, mode: number): void {
  if (hasAccess(folder, owner, mode)) return;
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    fchownSync(fd, owner.uid, owner.gid);
    fchmodSync(fd, mode);
  } finally {
    closeSync(fd);
  }
}

/** Shares a file. The folder belongs to the engine, so only a file of the engine's user with one name is changed. */
function share(path: string, { uid, gid }: Account): void {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === "ELOOP") return;
    throw error;
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile() || stats.uid !== uid || stats.nlink !== 1) return;
    fchownSync(fd, uid, gid);
    fchmodSync(fd, READABLE.file);
  } finally {
    closeSync(fd);
  }
}
