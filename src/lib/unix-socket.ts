// Unix sockets in folders whose path is longer than a socket address can hold.
import { openSync } from "node:fs";
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
