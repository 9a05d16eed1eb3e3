// Unix sockets in folders whose path is longer than a socket address can hold, or that somebody else may write to.
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { basename, dirname } from "node:path";

/** `sun_path` holds 108 bytes, one of them the closing zero (unix(7)). */
const MAX_SOCKET_PATH_BYTES = 107;

/** Opens a folder just to name it, which needs no right to list it (open(2)); the same number on every architecture. */
const O_PATH = 0o10000000;

const openFolders = new Map<string, number>();

/**
 * A path to the same socket that fits into a socket address, valid in this process only.
 *
 * Long ones go through an open descriptor of the folder, which stays open for the life of the process.
 */
export function socketAddress(path: string): string {
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return path;
  const folder = dirname(path);
  const fd = openFolders.get(folder) ?? openSync(folder, O_PATH);
  openFolders.set(folder, fd);
  return `/proc/self/fd/${fd}/${basename(path)}`;
}

/**
 * Gives a path by which the very socket is reached that lies there now, and no link to another one that whoever owns the folder
 * puts in its place. It is valid until the work is done.
 * @throws Error when there is no socket.
 */
export async function withSocket<T>(path: string, work: (address: string) => Promise<T>): Promise<T> {
  // What is opened is the place itself, which may be as long as it likes.
  const fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
  try {
    if (!fstatSync(fd).isSocket()) throw new Error(`${path} is not a socket`);
    return await work(`/proc/self/fd/${fd}`);
  } finally {
    closeSync(fd);
  }
}
