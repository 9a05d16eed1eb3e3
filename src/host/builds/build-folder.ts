// The folder of a build: its state, its source, its log and the tree in which it works; and the release that it becomes.
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  opendirSync,
  readdirSync,
  realpathSync,
  renameSync,
} from "node:fs";
import { join } from "node:path";
import {
  BUILD_VERSION,
  buildFileSchema,
  releaseSchema,
  type BuildFile,
  type BuildSpec,
  type Release,
} from "../../contracts/builds.ts";
import { readJsonAs } from "../../contracts/read.ts";
import type { Account } from "../../engines/engine.ts";
import { PublicError } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import {
  isFolderItself,
  keepFile,
  keptPath,
  readIfPresent,
  replaceFile,
  signatureOf,
  syncFile,
  syncFileSystem,
} from "../../lib/files.ts";
import type { Log } from "../../lib/log.ts";
import { buildsDir, releasesDir } from "../os/layout.ts";
import { removeTrees, type TreeRemover } from "../../lib/tree-removal.ts";

/** As many entries are looked at for a file; a release with more of them and no file hurts its owner alone. */
const MAX_LOOKED_AT = 1_000;

/** Names that the web server answers with 404, such as `.gitkeep`. */
const NEVER_SERVED = /^\.(?!well-known$)/;

const ID = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** The paths of one build. */
export interface BuildFolder {
  path: string;
  /** The spec and the state, which only the host can read. */
  file: string;
  /** The source as it came, a tar that only the sandbox unpacks. */
  source: string;
  log: string;
  /** A process of the build holds this lock. */
  lock: string;
  /** What the steps need to read: the command of each. */
  conf: string;
  /** Belongs to the environment's user. */
  work: string;
  /** The tree, which becomes the release. */
  app: string;
  /** For temporary files where the sandbox has no folder of its own. */
  tmp: string;
}

/** Where releases are, and what is said of them. */
interface ReleaseHost {
  dataDir: string;
  log: Log;
}

/** @throws PublicError when the id could lead out of the folder. */
export function buildFolder(dataDir: string, id: string): BuildFolder {
  if (!ID.test(id)) throw new PublicError("The id of the build is malformed.");
  const path = join(buildsDir(dataDir), id);
  return {
    path,
    file: join(path, "build.json"),
    source: join(path, "source.tar"),
    log: join(path, "log.jsonl"),
    lock: join(path, "lock"),
    conf: join(path, "conf"),
    work: join(path, "work"),
    app: join(path, "work", "app"),
    tmp: join(path, "work", "tmp"),
  };
}

/** The ids of all builds on the disk. */
export function buildIds(dataDir: string): string[] {
  const folder = buildsDir(dataDir);
  return existsSync(folder) ? readdirSync(folder).filter((name) => ID.test(name)) : [];
}

/** What is kept of a build; null for a folder whose order never came to its end. */
export function readBuild(folder: BuildFolder): BuildFile | null {
  const text = readIfPresent(folder.file) || readIfPresent(keptPath(folder.file));
  return text === null || text === "" ? null : readJsonAs(buildFileSchema, text, "The file of the build");
}

/**
 * Notes the state of a build, which a power cut may undo: a build that has begun may wait again. The values of an ended
 * build have no use any more, so its file has none.
 */
export function noteBuild(folder: BuildFolder, { build, spec }: BuildFile): void {
  const kept = build.endedAt === null ? spec : { ...spec, variables: {}, secrets: [], steps: [] };
  replaceFile(folder.file, JSON.stringify({ build, spec: kept }), 0o600);
}

/** Whether a file of a build still has the values of its spec, although the build has ended. */
export function hasOldValues(folder: BuildFolder, { build, spec }: BuildFile): boolean {
  if (build.endedAt === null) return false;
  if (Object.keys(spec.variables).length + spec.secrets.length + spec.steps.length > 0) return true;
  // A host that was killed at the end of the build has left the values under the second name.
  return signatureOf(folder.file) !== signatureOf(keptPath(folder.file));
}

/**
 * Writes the state of a build at once; the promise is fulfilled when a power cut can no longer undo it.
 * @throws when the disk does not take it: always as a rejection, never before there is a promise.
 */
export async function writeBuild(folder: BuildFolder, content: BuildFile): Promise<void> {
  noteBuild(folder, content);
  await keepFile(folder.file);
}

/** Makes the empty tree for a build anew. */
export async function prepareTree(folder: BuildFolder, account: Account | null): Promise<void> {
  await discardTree(folder);
  mkdirSync(folder.conf, { mode: 0o750 });
  mkdirSync(folder.work, { mode: 0o700 });
  mkdirSync(folder.app, { mode: 0o755 });
  mkdirSync(folder.tmp, { mode: 0o700 });
  if (account === null) return;
  chownSync(folder.conf, 0, account.gid);
  // Their folder last: its owner could put links in their place.
  for (const path of [folder.app, folder.tmp, folder.work]) chownSync(path, account.uid, account.gid);
}

/** Whether a folder of the tree has a file to serve. A link to it may not lead out of the tree, which moves away. */
export function servesFiles({ app }: BuildFolder, served: string): boolean {
  try {
    if (!isFolderItself(app)) return false;
    const [top, root] = [realpathSync(app), realpathSync(join(app, served))];
    return (root === top || root.startsWith(`${top}/`)) && hasFileToServe(root);
  } catch {
    return false;
  }
}

function hasFileToServe(root: string): boolean {
  const folders = [root];
  let left = MAX_LOOKED_AT;
  for (let path = folders.pop(); path !== undefined; path = folders.pop()) {
    using folder = opendirSync(path);
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      if (left-- === 0) return true;
      if (NEVER_SERVED.test(entry.name)) continue;
      if (!entry.isDirectory()) return true;
      folders.push(join(path, entry.name));
    }
  }
  return false;
}

/** Deletes the tree of a build; state, source and log stay. */
export async function discardTree({ work, conf }: BuildFolder): Promise<void> {
  await removeTrees([work, conf]);
}

/**
 * Makes the release of a finished tree, in one step. A release that is there already stays. The promise is fulfilled
 * when a power cut can no longer undo it.
 */
export async function publishRelease(
  host: ReleaseHost,
  folder: BuildFolder,
  { id, environment, runtime }: BuildSpec,
  { account, bytes }: { account: Account | null; bytes: number },
): Promise<void> {
  if (readRelease(host, id) !== null) return;
  const releases = releasesDir(host.dataDir);
  const place = join(releases, id);
  mkdirSync(releases, { recursive: true, mode: 0o711 });
  const unfinished = join(releases, `.${id}.tmp`);
  await removeTrees([unfinished, place]);
  mkdirSync(unfinished, { mode: 0o750 });
  const release: Release = {
    version: BUILD_VERSION,
    id,
    environment,
    runtime,
    builtAt: new Date().toISOString(),
    bytes,
  };
  replaceFile(join(unfinished, "release.json"), JSON.stringify(release), 0o600);
  renameSync(folder.app, join(unfinished, "app"));
  // Where the sandbox is weak, a step of the build can put a link in the place of its tree.
  if (!lstatSync(join(unfinished, "app")).isDirectory())
    throw new PublicError("The build has put something else in the place of its files.");
  if (account !== null) chownSync(unfinished, 0, account.gid);
  chmodSync(unfinished, 0o750);
  await failpoint("host.build.moved");
  // A name that is on the disk before the files behind it would lead to empty files.
  await syncFileSystem(unfinished);
  renameSync(unfinished, place);
  await syncFile(place);
}

/** The release of this id; null when it is not on this host, or not whole after a power cut. */
export function readRelease({ dataDir, log }: ReleaseHost, id: string): Release | null {
  if (!ID.test(id)) throw new PublicError("The id of the release is malformed.");
  const text = readIfPresent(join(releasesDir(dataDir), id, "release.json"));
  if (text === null) return null;
  try {
    return readJsonAs(releaseSchema, text, "The file of the release");
  } catch (error) {
    log.warn({ error, release: id }, "a release cannot be understood, and counts as absent");
    return null;
  }
}

/** Removes a release, which may be absent; it has no name any more before any of its files goes. */
export function deleteRelease(dataDir: string, id: string, remover: TreeRemover): void {
  if (!ID.test(id)) throw new PublicError("The id of the release is malformed.");
  const releases = releasesDir(dataDir);
  remover.discard(join(releases, id), releases);
}
