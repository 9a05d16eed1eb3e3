// Notes of pushes that go on, from before git changes a branch until all changes were reported. So a push is reported
// also when this process ends in between.
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { readJsonAs } from "../contracts/read.ts";
import { syncFile } from "../lib/files.ts";
import { newId } from "../lib/ids.ts";
import { tryLock } from "../lib/libc.ts";
import type { BranchTip } from "./refs.ts";

const FOLDER = "pilvi-pushes";

/** The ending of a note that is not written yet; its push has not begun. */
const UNFINISHED = ".new";

const noteSchema = z.strictObject({
  version: z.literal(1),
  before: z.array(z.strictObject({ name: z.string(), hash: z.string() })),
});

/** The paths of the notes that this process works on. */
const held = new Set<string>();

/** The note of a push, which this process alone works on. */
export class PushRecord {
  /** A UUIDv7 of the moment before the push: such ids sort by time. */
  readonly since: string;
  /** The branches before the push. */
  readonly before: readonly BranchTip[];
  /** Holds the lock. Git inherits it, and has it until it ends, also when this process ends first. */
  readonly fd: number;
  readonly #path: string;

  private constructor(path: string, fd: number, before: readonly BranchTip[]) {
    this.since = sinceOf(path);
    this.before = before;
    this.fd = fd;
    this.#path = path;
    held.add(path);
  }

  /** Resolves when the note is on the disk. @param branches reads the present branches. */
  static async begin(repository: string, branches: () => Promise<BranchTip[]>): Promise<PushRecord> {
    mkdirSync(join(repository, FOLDER), { recursive: true, mode: 0o700 });
    const path = join(repository, FOLDER, newId("push"));
    const unfinished = `${path}${UNFINISHED}`;
    const fd = openSync(unfinished, "wx", 0o600);
    try {
      if (!tryLock(fd)) throw new Error(`another process has ${unfinished}`);
      const before = await branches();
      writeFileSync(fd, JSON.stringify({ version: 1, before }));
      renameSync(unfinished, path);
      await syncFile(path);
      return new PushRecord(path, fd, before);
    } catch (error) {
      for (const each of [unfinished, path]) rmSync(each, { force: true });
      closeSync(fd);
      throw error;
    }
  }

  /** The names of the notes that a repository has, the oldest first. */
  static async names(repository: string): Promise<string[]> {
    const folder = join(repository, FOLDER);
    return existsSync(folder) ? (await readdir(folder)).sort() : [];
  }

  /**
   * Takes a note up that an earlier process has left, or an earlier report that failed.
   * @returns `busy` while its push or another report goes on, and `none` for a push that never began.
   */
  static take(repository: string, name: string): PushRecord | "busy" | "none" {
    const path = join(repository, FOLDER, name);
    if (!existsSync(path)) return "none";
    const fd = openSync(path, "r");
    if (!tryLock(fd)) {
      closeSync(fd);
      return "busy";
    }
    // It was locked by its last reporter, who may have deleted it since.
    const note = existsSync(path) ? noteIn(fd, name) : null;
    if (note !== null) return new PushRecord(path, fd, note.before);
    rmSync(path, { force: true });
    closeSync(fd);
    return "none";
  }

  /** Whether a git that an earlier process has started may still be at work on a push. */
  static async isHeldElsewhere(repository: string): Promise<boolean> {
    const paths = (await PushRecord.names(repository)).map((name) => join(repository, FOLDER, name));
    return paths.some((path) => !held.has(path) && isLocked(path));
  }

  /** Deletes the note: all that the push changed was reported. */
  end(): void {
    rmSync(this.#path, { force: true });
    this.leave();
  }

  /** Leaves the note for a later report. */
  leave(): void {
    held.delete(this.#path);
    closeSync(this.fd);
  }
}

function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const fd = openSync(path, "r");
  try {
    return !tryLock(fd);
  } finally {
    closeSync(fd);
  }
}

/** Null for a note that was cut off, whose push has not begun. */
function noteIn(fd: number, name: string): z.infer<typeof noteSchema> | null {
  if (name.endsWith(UNFINISHED)) return null;
  try {
    return readJsonAs(noteSchema, readFileSync(fd, "utf8"), "The note of a push");
  } catch {
    return null;
  }
}

function sinceOf(path: string): string {
  return path.slice(path.lastIndexOf("/push-") + "/push-".length);
}
