// Unix sockets in folders whose path is too long for a socket address, or that other users may write to.
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { basename, dirname } from "node:path";

/** `sun_path` holds 108 bytes, one of them the closing zero (unix(7)). */
const MAX_SOCKET_PATH_BYTES = 107;

/**
 * Opens a folder only to name it, which needs no right to list it (open(2)); the number is the same on every
 * architecture.
 */
const O_PATH = 0o10000000;

const openFolders = new Map<string, number>();

/**
 * A path to the same socket that fits into a socket address, valid in this process only.
 *
 * A long path goes through an open descriptor of the folder, which stays open for the life of the process.
 */
export function socketAddress(path: string): string {
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return path;
  const folder = dirname(path);
  const fd = openFolders.get(folder) ?? openSync(folder, O_PATH);
  openFolders.set(folder, fd);
  return `/proc/self/fd/${fd}/${basename(path)}`;
}

/**
 * Does the work with a path that reaches the very socket that is there now, never a link that the owner of the folder
 * puts in its place. The path is valid until the work is done.
 * @throws Error when there is no socket.
 */
export async function withSocket<T>(path: string, work: (address: string) => Promise<T>): Promise<T> {
  // This opens the place of the socket itself, whose path may have any length.
  const fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
  try {
    if (!fstatSync(fd).isSocket()) throw new Error(`${path} is not a socket`);
    return await work(`/proc/self/fd/${fd}`);
  } finally {
    closeSync(fd);
  }
}
