// Puts a segment of a log into the folder of a replica that runs.
import {
  closeSync,
  constants,
  fchownSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import type { Account } from "../../engines/engine.ts";

/** Where a segment goes. */
interface SegmentPlace {
  /** The log folder, which belongs to the replica. */
  folder: string;
  name: string;
  /** A path on the same file system that only the host can write to. */
  aside: string;
  /** The user of the replica; null is the host's own. */
  account: Account | null;
}

/**
 * Puts the segment into its place in one step. The replica runs, and could put a link in the place of its folder, so the
 * folder is opened first.
 * @param isDurable whether it must outlast a power cut.
 */
export async function putSegment(
  { folder, name, aside, account }: SegmentPlace,
  content: AsyncIterable<Uint8Array>,
  isDurable: boolean,
): Promise<void> {
  rmSync(aside, { force: true });
  const directory = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const fd = openSync(aside, "wx", 0o600);
    try {
      for await (const chunk of content)
        for (let done = 0; done < chunk.byteLength;) done += writeSync(fd, chunk, done);
      if (account !== null) fchownSync(fd, account.uid, account.gid);
      if (isDurable) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(aside, `/proc/self/fd/${directory}/${name}`);
    if (isDurable) fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** The name of the segment that follows. */
export function segmentAfter(name: string, segmentBytes: number): string {
  const perFile = 2 ** 32 / segmentBytes;
  const [high, low] = [name.slice(8, 16), name.slice(16)].map((digits) => Number.parseInt(digits, 16));
  const number = (high ?? 0) * perFile + (low ?? 0) + 1;
  return name.slice(0, 8) + hex(Math.floor(number / perFile)) + hex(number % perFile);
}

function hex(value: number): string {
  return value.toString(16).toUpperCase().padStart(8, "0");
}
