// The refs of uploads: each leads to one commit without a parent, beside all branches. Git's clients do not see them.
import { type GitOptions, gitOutput, type GitProgram } from "./git.ts";

/** The folder of the refs, in which no push writes. */
export const UPLOADS_FOLDER = "refs/pilvi/uploads";

/** Stands in a name for the tip of a branch that has none. */
const NOTHING = "nothing";

/** Stands in a name for the tip of a branch to which a push has come since; no tip is like it. */
const PASSED = "passed";

const MAX_LIST_BYTES = 32 << 20;

/** An upload that is kept. */
export interface StoredUpload {
  ref: string;
  /** The folder of refs that it is in, such as the id of an environment. */
  folder: string;
  hash: string;
  /** When it began; later where the clock went back before. */
  at: Date;
  /** The tip that the branch had then; null for a branch without a commit. */
  base: string | null;
}

/**
 * The ref of a new upload. Names in a folder sort by time.
 * @param base as in `StoredUpload`.
 * @param former the newest upload in the folder, which the new upload comes after even when the clock went back.
 */
export function newUploadRef(folder: string, base: string | null, former?: Pick<StoredUpload, "at">): string {
  const atMs = Math.max(Date.now(), (former?.at.getTime() ?? 0) + 1);
  return `${UPLOADS_FOLDER}/${folder}/upload-${Bun.randomUUIDv7("hex", atMs)}-on-${base ?? NOTHING}`;
}

/** The uploads in a folder, or in all, the oldest of each folder first. */
export async function readUploads(
  git: GitProgram,
  folder: string | undefined,
  options: GitOptions,
): Promise<StoredUpload[]> {
  const place = folder === undefined ? UPLOADS_FOLDER : `${UPLOADS_FOLDER}/${folder}`;
  const output = await gitOutput(git, ["for-each-ref", "--format=%(refname) %(objectname)", place], {
    ...options,
    what: "The uploads could not be listed",
    maxBytes: MAX_LIST_BYTES,
  });
  return output.toString("utf8").split("\n").flatMap(uploadOf);
}

/** A change of an upload that is kept: it is dropped, or has another ref. */
export interface UploadChange {
  ref: string;
  /** Left out for an upload that is dropped. */
  next?: { ref: string; hash: string };
}

/** Notes that a push has come after an upload, so that no later push can make the upload the newest again. */
export function passed({ ref, hash }: StoredUpload): UploadChange {
  return { ref, next: { ref: ref.replace(/-on-[0-9a-z]+$/, `-on-${PASSED}`), hash } };
}

/** Changes uploads, which may be gone already. The files of dropped ones stay until garbage is collected. */
export async function changeUploads(
  git: GitProgram,
  changes: readonly UploadChange[],
  options: GitOptions,
): Promise<void> {
  await gitOutput(git, ["update-ref", "--stdin"], {
    ...options,
    what: "Uploads could not be changed",
    input: changes
      .map(
        ({ ref, next }) => `${next === undefined ? "" : `update ${next.ref} ${next.hash}\n`}delete ${ref}\n`,
      )
      .join(""),
  });
}

const LINE = /^(refs\/pilvi\/uploads\/([^/ ]+)\/upload-([0-9a-f-]{36})-on-([0-9a-z]+)) ([0-9a-f]+)$/;

function uploadOf(line: string): StoredUpload[] {
  const [, ref, folder, uuid, base, hash] = LINE.exec(line) ?? [];
  if (!ref || !folder || !uuid || !base || !hash) return [];
  return [{ ref, folder, hash, at: timeOf(uuid), base: base === NOTHING ? null : base }];
}

/** A UUIDv7 begins with the milliseconds since 1970. */
function timeOf(uuid: string): Date {
  return new Date(Number.parseInt(uuid.replace("-", "").slice(0, 12), 16));
}
