// Makes a commit of an uploaded archive. Nothing is unpacked: each file goes from the archive into git's own stream.
import type { SourceLimits } from "./bounds.ts";
import { ByteReader, unzipped } from "./byte-reader.ts";
import { PublicError } from "../lib/errors.ts";
import { SourceRefusal, SourceTooLarge, shown } from "./faults.ts";
import { type GitOptions, gitOutput, GitProcess, type GitProgram } from "./git.ts";
import { archivePath, checkLink } from "./paths.ts";
import { resolveCommit } from "./refs.ts";
import { tarEntries, type TarEntry } from "./tar.ts";

/** What a commit says about itself. */
export interface CommitText {
  message: string;
  author: { name: string; email: string };
  at: Date;
}

export interface Upload {
  archive: ReadableStream<Uint8Array>;
  /** The full name of the branch that gets the commit, such as `refs/heads/main`. */
  ref: string;
  /** The tip of that branch so far; null for a new branch. */
  parent: string | null;
  text: CommitText;
  limits: SourceLimits;
  /** Called when the whole archive has come; the upload is refused when it throws a PublicError. */
  confirm?(): Promise<void>;
}

const HEADER_BYTES = 2_048;
const MESSAGE_BYTES = 16 << 10;
/** How much is collected before git gets it. */
const MAX_UNSENT_BYTES = 64 << 10;
const WHAT = "The upload could not be stored";

/**
 * Stores the archive as the whole content of a new commit.
 * @returns the hash of the commit.
 * @throws SourceRefusal when the archive is malformed or beyond the limits, or what `confirm` throws; nothing is stored
 * then.
 */
export async function commitArchive(git: GitProgram, upload: Upload, options: GitOptions): Promise<string> {
  const { archive, limits } = upload;
  const run = new GitProcess(git, ["fast-import", "--quiet", "--done", "--date-format=raw"], {
    ...options,
    maxFileBytes: limits.bytes,
  });
  const answer = new Response(run.child.stdout).text();
  const most = limits.bytes + limits.files * HEADER_BYTES + (1 << 20);
  const source = archive.getReader();
  const reader = new ByteReader(unzipped(source, limits.transferBytes), most);
  try {
    const written = new ImportStream(run.child.stdin, upload).write(reader);
    // Git ends first when it fails or is cancelled, while the client may send nothing for long.
    await Promise.race([written, run.child.exited]);
    await run.succeeded(WHAT);
    return (await answer).trim();
  } catch (error) {
    run.kill();
    await source.cancel().catch(() => {});
    await run.child.exited;
    // The error says more than what may fail here.
    await restoreRef(git, upload, options).catch(() => {});
    if (error instanceof PublicError) throw error;
    // A broken pipe says nothing; git's own words do.
    await run.succeeded(WHAT);
    throw error;
  } finally {
    await run.child.exited;
  }
}

/** A git that is cut off in its last moment has changed the ref. */
async function restoreRef(
  git: GitProgram,
  { ref, parent }: Upload,
  { repository, deadlineMs }: GitOptions,
): Promise<void> {
  const options = { repository, deadlineMs };
  if ((await resolveCommit(git, ref, options)) === parent) return;
  const input = parent === null ? `delete ${ref}\n` : `update ${ref} ${parent}\n`;
  await gitOutput(git, ["update-ref", "--stdin"], { ...options, what: WHAT, input });
}

/** The words of `git fast-import`. */
class ImportStream {
  readonly #sink: Bun.FileSink;
  readonly #upload: Upload;
  readonly #files = new Set<string>();
  /** Files that a hard link may name: neither a link nor a folder has taken their place. */
  readonly #regular = new Set<string>();
  #entries = 0;
  #bytes = 0;
  #unsent: Uint8Array[] = [];
  #unsentBytes = 0;

  constructor(sink: Bun.FileSink, upload: Upload) {
    this.#sink = sink;
    this.#upload = upload;
  }

  async write(reader: ByteReader): Promise<void> {
    await this.#begin();
    for await (const entry of tarEntries(reader)) await this.#add(entry);
    if (this.#files.size === 0) throw new SourceRefusal("The archive has no files.");
    await this.#upload.confirm?.();
    await this.#send("\nget-mark :1\ndone\n");
    await this.#flush();
    await this.#sink.end();
  }

  async #begin(): Promise<void> {
    const { ref, parent, text } = this.#upload;
    const by = `${identity(text.author.name)} <${identity(text.author.email)}> ${Math.floor(text.at.getTime() / 1_000)} +0000`;
    const message = Buffer.from(text.message.replaceAll("\0", "")).subarray(0, MESSAGE_BYTES);
    await this.#send(
      `feature done\ncommit ${ref}\nmark :1\nauthor ${by}\ncommitter ${by}\ndata ${message.length}\n`,
    );
    await this.#send(message);
    await this.#send(`\n${parent === null ? "" : `from ${parent}\n`}deleteall\n`);
  }

  async #add(entry: TarEntry): Promise<void> {
    const { limits } = this.#upload;
    this.#entries += 1;
    // Folders are no entries for git, and an archive may still be full of them.
    if (this.#entries > 2 * limits.files) throw tooMany(limits);
    const path = archivePath(entry.path, limits);
    if (entry.type === "folder") return;
    if (path === "") throw new SourceRefusal("The archive has a file without a name.");
    this.#replace(path);
    if (entry.type === "file") await this.#addFile(path, entry);
    else if (entry.type === "link") await this.#addLink(path, entry.target);
    else await this.#copy(path, entry.target);
    if (this.#files.size > limits.files) throw tooMany(limits);
  }

  async #addFile(path: string, { bytes, isExecutable, content }: TarEntry): Promise<void> {
    const { fileBytes, bytes: allBytes } = this.#upload.limits;
    this.#bytes += bytes;
    if (bytes > fileBytes) throw new SourceTooLarge(`${shown(path)} is larger than ${mebibytes(fileBytes)}.`);
    if (this.#bytes > allBytes) throw new SourceTooLarge(`The files have more than ${mebibytes(allBytes)}.`);
    await this.#send(`M ${isExecutable ? "100755" : "100644"} inline ${quotedPath(path)}\ndata ${bytes}\n`);
    for await (const piece of content()) await this.#send(piece);
    this.#files.add(path);
    this.#regular.add(path);
  }

  /** A later entry replaces an earlier entry of its path, and a file in the place of its folders. */
  #replace(path: string): void {
    this.#regular.delete(path);
    for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1))
      this.#regular.delete(path.slice(0, at));
  }

  async #addLink(path: string, target: string): Promise<void> {
    checkLink(path, target);
    await this.#send(`M 120000 inline ${quotedPath(path)}\ndata ${Buffer.byteLength(target)}\n${target}\n`);
    this.#files.add(path);
  }

  /** A second name of a file that came before. */
  async #copy(path: string, target: string): Promise<void> {
    const source = archivePath(target, this.#upload.limits);
    // A copy of a link could lead out of the source from its new place.
    if (!this.#regular.has(source)) {
      throw new SourceRefusal(
        `${shown(path)} is a hard link to ${shown(target)}, which is not in the archive.`,
      );
    }
    await this.#send(`C ${quotedPath(source)} ${quotedPath(path)}\n`);
    this.#files.add(path);
    this.#regular.add(path);
  }

  /** Collects what git gets next: a wait for each small file would take longer than git itself. */
  async #send(data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    this.#unsent.push(bytes);
    this.#unsentBytes += bytes.length;
    if (this.#unsentBytes >= MAX_UNSENT_BYTES) await this.#flush();
  }

  /** Waits until git has taken it, so that no more of the archive is read than git can take. */
  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#unsent);
    this.#unsent = [];
    this.#unsentBytes = 0;
    await this.#sink.write(bytes);
    await this.#sink.flush();
  }
}

function tooMany({ files }: SourceLimits): SourceTooLarge {
  return new SourceTooLarge(`The archive has more than ${files} files.`);
}

function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / (1 << 20))} MiB`;
}

/** In the form that git reads; control characters were refused before. */
function quotedPath(path: string): string {
  return `"${path.replaceAll(/["\\]/g, "\\$&")}"`;
}

/** A name or an address without the characters that end it. */
function identity(text: string): string {
  return (
    text
      .replaceAll(/[\p{Cc}<>]/gu, "")
      .trim()
      .slice(0, 200) || "unknown"
  );
}
