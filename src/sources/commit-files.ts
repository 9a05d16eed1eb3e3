// The files of a commit as a plan reads them, within the limits of a source.
import type { SourceEntry, SourceFiles } from "../plan/source-files.ts";
import type { SourceLimits } from "./bounds.ts";
import { SourceRefusal, shown } from "./faults.ts";
import { type GitOptions, gitOutput, type GitProgram } from "./git.ts";
import { checkLink, checkPathBounds } from "./paths.ts";

/** Bytes of the list of all files; a tree of trees may have far more files than it has objects. */
const MAX_LIST_BYTES = 32 << 20;

/** Bytes of the contents that a plan reads at once: two lock files, some other files, or the targets of all links. */
const MAX_READ_BYTES = 24 << 20;

const [MAX_LINKS, MAX_LINK_BYTES] = [5_000, 4_096];

const KINDS: Record<string, SourceEntry["kind"]> = {
  "120000": "link",
  "160000": "submodule",
};

/** The files of one commit. */
export class CommitFiles implements SourceFiles {
  readonly entries: readonly SourceEntry[];
  readonly #git: GitProgram;
  readonly #options: GitOptions;

  constructor(entries: readonly SourceEntry[], git: GitProgram, options: GitOptions) {
    this.entries = entries;
    this.#git = git;
    this.#options = options;
  }

  /** The size of all files. */
  get bytes(): number {
    return this.entries.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** @throws SourceRefusal when git fails, or when the contents are too large together. */
  async read(paths: readonly string[]): Promise<Map<string, Uint8Array>> {
    const wanted = new Set(paths);
    const entries = this.entries.filter(({ path, kind }) => kind === "file" && wanted.has(path));
    const contents = await this.#contents(entries);
    return new Map(entries.map(({ path }, at) => [path, contents[at] ?? new Uint8Array()]));
  }

  /** @throws SourceRefusal that names a link out of the source. */
  async checkLinks(): Promise<void> {
    const links = this.entries.filter(({ kind }) => kind === "link");
    if (links.length > MAX_LINKS) throw new SourceRefusal(`The commit has more than ${MAX_LINKS} links.`);
    const long = links.find(({ bytes }) => bytes > MAX_LINK_BYTES);
    if (long !== undefined) throw new SourceRefusal(`${shown(long.path)} is a link with too long a target.`);
    const targets = await this.#contents(links);
    for (const [at, { path }] of links.entries()) {
      checkLink(path, Buffer.from(targets[at] ?? []).toString("utf8"));
    }
  }

  /** Asks by object, since a path may have any character in it. */
  async #contents(entries: readonly SourceEntry[]): Promise<Uint8Array[]> {
    if (entries.length === 0) return [];
    const most = entries.reduce((sum, { bytes }) => sum + bytes + 100, 0);
    if (most > MAX_READ_BYTES) throw new SourceRefusal("The files to read are too large together.");
    const output = await gitOutput(this.#git, ["cat-file", "--batch"], {
      ...this.#options,
      what: "The files of the commit could not be read",
      maxBytes: most,
      input: entries.map(({ object }) => `${object}\n`).join(""),
    });
    return contentsOf(output, entries.length);
  }
}

/** @throws SourceRefusal when the commit is beyond the limits, or has a link that leads out of it. */
export async function readCommitFiles(
  git: GitProgram,
  hash: string,
  limits: SourceLimits,
  options: GitOptions,
): Promise<CommitFiles> {
  const output = await gitOutput(git, ["ls-tree", "-r", "-z", "-l", "--full-tree", hash], {
    ...options,
    what: "The files of the commit could not be listed",
    maxBytes: MAX_LIST_BYTES,
    // A tree of trees would else be listed until the bound of bytes, which takes long.
    maxRecords: limits.files,
  });
  const lines = output.toString("utf8").split("\0").slice(0, -1);
  const entries = lines.map(entryOf);
  checkSizes(entries, limits);
  const files = new CommitFiles(entries, git, options);
  await files.checkLinks();
  return files;
}

/** `MODE TYPE OBJECT SIZE\tPATH`. */
function entryOf(line: string): SourceEntry {
  const tab = line.indexOf("\t");
  const [mode = "", , object = "", size = ""] = line.slice(0, tab).split(/ +/);
  return { path: line.slice(tab + 1), kind: KINDS[mode] ?? "file", object, bytes: Number(size) || 0 };
}

function checkSizes(entries: readonly SourceEntry[], limits: SourceLimits): void {
  let sum = 0;
  for (const { path, bytes } of entries) {
    checkPathBounds(path, limits);
    sum += bytes;
    if (bytes > limits.fileBytes) {
      throw new SourceRefusal(`${shown(path)} is larger than ${limits.fileBytes >> 20} MiB.`);
    }
  }
  if (sum > limits.bytes) {
    throw new SourceRefusal(
      `The files of the commit have more than ${Math.floor(limits.bytes / (1 << 20))} MiB.`,
    );
  }
}

/** `OBJECT TYPE SIZE\n` and the content with a line feed, for each object. */
function contentsOf(output: Buffer, count: number): Uint8Array[] {
  const found: Uint8Array[] = [];
  for (let at = 0; found.length < count;) {
    const end = output.indexOf(0x0a, at);
    const size = Number(/^[0-9a-f]+ blob (\d+)$/.exec(output.toString("latin1", at, end))?.[1] ?? Number.NaN);
    if (end < 0 || !Number.isInteger(size)) throw new SourceRefusal("An object of the commit is missing.");
    found.push(new Uint8Array(output.subarray(end + 1, end + 1 + size)));
    at = end + 1 + size + 1;
  }
  return found;
}
