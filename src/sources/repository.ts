// The git repository of an application: every upload, push and fetch ends as a commit in it.
import { ReportedTips } from "./reported-tips.ts";
import { existsSync } from "node:fs";
import { Places } from "../lib/places.ts";
import { removeTrees } from "../lib/tree-removal.ts";
import { SOURCE_LIMITS, type SourceLimits } from "./bounds.ts";
import { type CommitFiles, readCommitFiles } from "./commit-files.ts";
import { commitTar, ensureAttributes } from "./commit-archive.ts";
import { createRepository } from "./create-repository.ts";
import { SourceRefusal, SourceTooLarge, shown } from "./faults.ts";
import { fetchBranch, type FetchSource, type RemoteBranches, remoteBranches } from "./fetch.ts";
import type { GitOptions, GitProgram } from "./git.ts";
import { checkedHash, checkRef } from "./names.ts";
import { Pushes } from "./pushes.ts";
import {
  type BranchTip,
  type CommitFacts,
  commitBehind,
  readBranches,
  readFacts,
  resolveCommit,
} from "./refs.ts";
import { RepositoryStorage } from "./storage.ts";
import { commitArchive, type CommitText, type Upload } from "./upload.ts";
import {
  changeUploads,
  readUploads,
  type StoredUpload,
  type UploadChange,
  UPLOADS_FOLDER,
} from "./uploads.ts";
import { WriteLock } from "./write-lock.ts";

const [SHORT_MS, LONG_MS, FETCH_MS] = [60_000, 10 * 60_000, 5 * 60_000];

/** How much of a branch is fetched, one after the other, until a named commit is among it. */
const DEPTHS = [1, 50, 1_000];

const MOST_COMMITS = "1,000";

interface RepositoryOptions {
  git: GitProgram;
  limits?: SourceLimits;
}

/** A bare repository in a folder of its own. */
export class Repository {
  readonly path: string;
  readonly git: GitProgram;
  readonly limits: SourceLimits;
  /** Uploads and fetches remove what a failed one left, so only one of them runs at a time. */
  readonly #writing = new Places(1);
  /** The tips that pushes have made and that were reported. */
  readonly reportedTips = new ReportedTips();
  readonly pushes: Pushes;
  readonly #storage: RepositoryStorage;
  /** Whether it was deleted with its application. */
  isRemoved = false;

  private constructor(path: string, { git, limits = SOURCE_LIMITS }: RepositoryOptions) {
    this.path = path;
    this.git = git;
    this.limits = limits;
    this.#storage = new RepositoryStorage(path, git);
    this.pushes = new Pushes(path, this.#storage, this.#writing);
  }

  /** Opens the repository, and makes it first where there is none yet; a kill leaves none that is half made. */
  static async open(path: string, options: RepositoryOptions): Promise<Repository> {
    const repository = new Repository(path, options);
    if (!existsSync(path)) await createRepository(path, options.git);
    ensureAttributes(path);
    return repository;
  }

  #options(deadlineMs: number): GitOptions {
    return { repository: this.path, deadlineMs };
  }

  /**
   * Makes a commit of an archive (tar, plain or with gzip), whose files replace all files of the ref.
   * @param ref the full name of the ref, such as that of a new upload.
   * @param options.confirm called when the whole archive has come, before the ref changes.
   * @returns the hash of the commit.
   * @throws SourceRefusal when the archive is refused, or what `confirm` throws; the ref is then as before.
   */
  commitUpload(
    archive: ReadableStream<Uint8Array>,
    ref: string,
    text: CommitText,
    { signal, ...given }: Pick<Upload, "confirm"> & { signal?: AbortSignal } = {},
  ): Promise<string> {
    checkRef(ref);
    return this.#write(async (lock) => {
      const parent = await this.resolve(ref);
      const upload = { archive, ref, parent, text, limits: this.limits, ...given };
      const options = { ...this.#options(LONG_MS), lock, ...(signal !== undefined && { signal }) };
      return await commitArchive(this.git, upload, options);
    });
  }

  /**
   * Fetches a branch of another repository, whose newest commit becomes the tip of the branch of the same name.
   * @returns the hash of that commit.
   * @throws SourceRefusal with git's own reason; an aborted fetch ends at once.
   */
  fetch(source: FetchSource, signal?: AbortSignal): Promise<string> {
    return this.#fetch(source, signal, async (bring) => {
      await bring(1);
      const hash = await this.resolve(`refs/heads/${source.branch}`);
      if (hash === null) throw new SourceRefusal(`The branch ${shown(source.branch)} has no commit.`);
      return hash;
    });
  }

  /**
   * Fetches as much of a branch as has a commit, besides what `fetch` does.
   * @param name the hash of the commit, which may be shortened.
   * @returns the whole hash.
   * @throws SourceRefusal as `fetch`, or when none of the latest commits is that commit.
   */
  fetchCommit(source: FetchSource, name: string, signal?: AbortSignal): Promise<string> {
    return this.#fetch(source, signal, async (bring) => {
      for (const depth of DEPTHS) {
        await bring(depth);
        const hash = await this.commitOn(source.branch, name);
        if (hash !== null) return hash;
      }
      throw new SourceRefusal(
        `The branch ${shown(source.branch)} of the repository has no commit ${shown(name)} among its latest ${MOST_COMMITS} commits.`,
      );
    });
  }

  #fetch(
    source: FetchSource,
    signal: AbortSignal | undefined,
    task: (bring: (depth: number) => Promise<void>) => Promise<string>,
  ): Promise<string> {
    const ref = `refs/heads/${source.branch}`;
    checkRef(ref);
    return this.#write(async (lock) => {
      const options = { ...this.#options(LONG_MS), lock, ...(signal !== undefined && { signal }) };
      const tidy = () => this.#storage.removeKilledFetch(ref);
      const endsAt = performance.now() + (source.deadlineMs ?? FETCH_MS);
      // A control plane that was killed as well has removed nothing.
      await tidy();
      const bring = (depth: number) => {
        const deadlineMs = Math.max(1, endsAt - performance.now());
        return fetchBranch(this.git, { ...source, depth, deadlineMs }, ref, this.limits, options);
      };
      return await task(bring).finally(tidy);
    }, signal);
  }

  /** What the server of a source says of its branches. @throws SourceRefusal with git's own reason. */
  remoteBranches(source: FetchSource, signal?: AbortSignal): Promise<RemoteBranches> {
    checkRef(`refs/heads/${source.branch}`);
    return this.#write(async () => {
      const options = { ...this.#options(SHORT_MS), ...(signal !== undefined && { signal }) };
      return await remoteBranches(this.git, source, this.limits, options);
    }, signal);
  }

  /** Resolves the name of a branch or of a commit to a hash; null without such a commit. */
  resolve(name: string): Promise<string | null> {
    return resolveCommit(this.git, name, this.#options(SHORT_MS));
  }

  /** The whole hash of a commit that belongs to a branch; null when the branch has no such commit. */
  async commitOn(branch: string, name: string): Promise<string | null> {
    return await commitBehind(this.git, `refs/heads/${branch}`, name, this.#options(SHORT_MS));
  }

  /** The first 1,000 branches by name, and those among `also`, wherever they stand. */
  branches(also: readonly string[] = []): Promise<BranchTip[]> {
    return readBranches(this.git, also, this.#options(SHORT_MS));
  }

  /** The uploads in a folder of their refs, or in all, the oldest of each folder first. */
  uploads(folder?: string): Promise<StoredUpload[]> {
    return readUploads(this.git, folder, this.#options(SHORT_MS));
  }

  /** Changes uploads, after all else that writes; the files of those that are dropped go with the garbage. */
  async changeUploads(changes: readonly UploadChange[]): Promise<void> {
    if (changes.length > 0) await this.#writing.run(() => this.#changeUploads(changes));
  }

  /** As `changeUploads`, but not waited for while an upload, a fetch or the collection of garbage is under way. */
  async changeUploadsUnawaited(changes: readonly UploadChange[]): Promise<void> {
    if (changes.length > 0) await this.#writing.runUnawaited(() => this.#changeUploads(changes));
  }

  async #changeUploads(changes: readonly UploadChange[]): Promise<void> {
    if (this.isRemoved) return;
    using lock = new WriteLock(this.path);
    await this.#storage.removeStaleLock();
    await this.#storage.removeLocksBelow(UPLOADS_FOLDER);
    await changeUploads(this.git, changes, { ...this.#options(SHORT_MS), lock: lock.fd });
  }

  /** @throws SourceRefusal when there is no such commit. */
  facts(hash: string): Promise<CommitFacts> {
    return readFacts(this.git, checkedHash(hash), this.#options(SHORT_MS));
  }

  /**
   * The files of a commit, for its plan.
   * @throws SourceRefusal when the commit is beyond the limits, or has a link that leads out of it.
   */
  files(hash: string): Promise<CommitFiles> {
    return readCommitFiles(this.git, checkedHash(hash), this.limits, this.#options(SHORT_MS));
  }

  /** A tar of all files of a commit. Its reader gets an error when git fails or the tar is larger than allowed. */
  archive(hash: string): ReadableStream<Uint8Array> {
    return commitTar(this.git, checkedHash(hash), 2 * this.limits.bytes, this.#options(LONG_MS));
  }

  /** The bytes that all its commits take on the disk. */
  async bytes(): Promise<number> {
    return (await this.#storage.size()).bytes;
  }

  /** The bytes that are left until the repository has its bound; zero or less when there are none. */
  async roomBytes(): Promise<number> {
    return this.limits.repositoryBytes - (await this.bytes());
  }

  /** Deletes what neither a branch nor an upload leads to, and packs the rest. */
  collectGarbage(): Promise<void> {
    return this.#writing.run(async () => {
      if (this.isRemoved) return;
      using lock = new WriteLock(this.path);
      await this.#storage.pack(lock.fd);
    });
  }

  /** Collects garbage where many packs and objects have come since the last time. @returns whether it did. */
  async tidy(): Promise<boolean> {
    const isUntidy = await this.#storage.isUntidy();
    if (isUntidy) await this.collectGarbage();
    return isUntidy;
  }

  /** Deletes the repository with all that it holds; uploads that wait are refused from then on. */
  remove(): Promise<void> {
    return this.#writing.run(async () => {
      this.isRemoved = true;
      await removeTrees([this.path]);
    });
  }

  /** @throws SourceTooLarge */
  async #ensureRoom(lock: number): Promise<void> {
    if ((await this.roomBytes()) > 0) return;
    await this.#storage.pack(lock);
    if ((await this.roomBytes()) > 0) return;
    const most = `${Math.floor(this.limits.repositoryBytes / (1 << 20))} MiB`;
    throw new SourceTooLarge(
      `The commits of the application have more than ${most}. Delete branches that are not needed any more with git push --delete, and try again in an hour.`,
    );
  }

  /**
   * Runs a task that adds a commit; nothing is left of a task that fails.
   * @param task gets an open file for its git to inherit. @param signal ends the wait of a fetch.
   */
  async #write<T>(task: (lock: number) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const leave = await this.#writing.enter(signal).catch((error: unknown) => {
      throw new SourceRefusal("The repository could not be fetched: it was cancelled.", error);
    });
    try {
      if (this.isRemoved) throw new SourceRefusal("The repository was deleted with its application.");
      using lock = new WriteLock(this.path);
      await this.#ensureRoom(lock.fd);
      return await this.#cleanedUp(() => task(lock.fd));
    } finally {
      leave();
    }
  }

  async #cleanedUp<T>(task: () => Promise<T>): Promise<T> {
    try {
      return await task();
    } catch (error) {
      await this.#storage.removeUnfinished();
      throw error;
    }
  }
}
