// The refs of uploads: each leads to one commit without a parent, beside all branches. Git's clients do not see them.
import { type GitOptions, gitOutput, type GitProgram } from "./git.ts";

/** The folder of the refs, in which no push writes. */
export const UPLOADS_FOLDER = "refs/pilvi/uploads";

/** Stands in a name for the tip of a branch that has none. */
const NOTHING = "nothing";

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

/** Drops uploads, which may be gone already. Their files stay until garbage is collected. */
export async function dropUploads(
  git: GitProgram,
  uploads: readonly Pick<StoredUpload, "ref">[],
  options: GitOptions,
): Promise<void> {
  await gitOutput(git, ["update-ref", "--stdin"], {
    ...options,
    what: "Old uploads could not be dropped",
    input: uploads.map(({ ref }) => `delete ${ref}\n`).join(""),
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
