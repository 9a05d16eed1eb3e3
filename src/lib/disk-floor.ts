// The part of a disk that is left to databases: builds end and sources are refused before they take it.
import { statfs } from "node:fs/promises";

/** The disk is nearly full when less is free: this many bytes or files, or this part of a small disk. */
export const DISK_FLOOR = { bytes: 1024 ** 3, files: 200_000, share: 0.05 };

/** Whether the disk of a folder is nearly full. A full disk would stop databases, which cannot write then. */
export async function isDiskLow(folder: string): Promise<boolean> {
  const { bytes, files, share } = DISK_FLOOR;
  const disk = await statfs(folder);
  // A file system without a bound of files, such as a btrfs, has neither any nor any free: no number is below the floor.
  const hasFewFiles = disk.ffree < Math.min(files, disk.files * share);
  return hasFewFiles || disk.bavail * disk.bsize < Math.min(bytes, disk.blocks * disk.bsize * share);
}
