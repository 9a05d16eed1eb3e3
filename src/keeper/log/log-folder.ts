// Reads the log folder of an instance, whose files and their names are in the instance's hands: no link leads the keeper out.
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, type Stats } from "node:fs";
import { codeOf, PublicError } from "../../lib/errors.ts";

const { O_RDONLY, O_NOFOLLOW, O_DIRECTORY, O_NONBLOCK } = constants;
const MAX_HISTORY_BYTES = 65_536;
/** An engine keeps a thousand segments at most, and some more for later ones; each pass looks at all names. */
const MAX_NAMES = 20_000;
const MAX_FOLDER_BYTES = 8 * 1024 ** 2;
/** Between two parts of a large read other work gets its turn. */
const READ_BYTES = 1_048_576;

export class LogFolder {
  readonly #fd: number;
  readonly #uid: number;

  private constructor(fd: number) {
    this.#fd = fd;
    this.#uid = fstatSync(fd).uid;
  }

  /** Opens the folder, which the caller closes. @throws an error of the system, also for a link. */
  static open(path: string): LogFolder {
    return new LogFolder(openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** @throws PublicError for more names than an engine's own. */
  names(): string[] {
    // A folder of so many names is not even read.
    if (fstatSync(this.#fd).size > MAX_FOLDER_BYTES) throw tooMany();
    const names = readdirSync(`/proc/self/fd/${this.#fd}`);
    if (names.length > MAX_NAMES) throw tooMany();
    return names;
  }

  /**
   * Bytes of a segment up to its end; null when there is no such file.
   * @throws when the file is none of Postgres' own segments.
   */
  async segment(name: string, segmentBytes: number, from: number, to: number): Promise<Uint8Array | null> {
    return await this.#read(name, from, (stats) => (stats.size === segmentBytes ? to : null));
  }

  /** The history of a timeline; null when there is no such file. */
  async history(name: string): Promise<Uint8Array | null> {
    return await this.#read(name, 0, ({ size }) => (size <= MAX_HISTORY_BYTES ? size : null));
  }

  /** The size of a file of any size; null when there is no such file. */
  size(name: string): number | null {
    const fd = this.#openFile(name);
    if (fd === null) return null;
    try {
      return this.#ownStats(fd, name).size;
    } finally {
      closeSync(fd);
    }
  }

  /** Bytes of a file of any size; null when there is no such file. @throws when it is shorter. */
  async part(name: string, from: number, to: number): Promise<Uint8Array | null> {
    return await this.#read(name, from, ({ size }) => (size >= to ? to : null));
  }

  async #read(
    name: string,
    from: number,
    endOf: (stats: Stats) => number | null,
  ): Promise<Uint8Array | null> {
    const fd = this.#openFile(name);
    if (fd === null) return null;
    try {
      const end = endOf(this.#ownStats(fd, name));
      if (end === null) throw notOwn(name);
      return await readAll(fd, from, end);
    } finally {
      closeSync(fd);
    }
  }

  #ownStats(fd: number, name: string): Stats {
    const stats = fstatSync(fd);
    // A file that just gets its name may have two names for a moment: the next pass looks again.
    if (!stats.isFile() || stats.nlink !== 1 || stats.uid !== this.#uid) throw notOwn(name);
    return stats;
  }

  #openFile(name: string): number | null {
    try {
      return openSync(`/proc/self/fd/${this.#fd}/${name}`, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return null;
      throw error;
    }
  }
}

function tooMany(): PublicError {
  return new PublicError(`The folder of the log has more than ${MAX_NAMES} files, so it is not shipped.`);
}

function notOwn(name: string): Error {
  return new Error(`the file ${name} of the log is not the engine's own`);
}

async function readAll(fd: number, from: number, to: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(to - from);
  let read = 0;
  while (read < bytes.length) {
    const length = Math.min(READ_BYTES, bytes.length - read);
    const count = readSync(fd, bytes, read, length, from + read);
    if (count === 0) throw new Error("a file of the log is shorter than it was");
    read += count;
    if (read < bytes.length) await new Promise(setImmediate);
  }
  return bytes;
}
