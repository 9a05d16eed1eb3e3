// Unpacks the stream of a backup into a new data folder, as the user of the instance.
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fchownSync,
  mkdirSync,
  openSync,
  realpathSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { BackupFacts } from "../../contracts/keeper.ts";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { EngineBackup } from "../../engines/backup.ts";
import type { Engine, EngineContext } from "../../engines/engine.ts";
import { PublicError } from "../../lib/errors.ts";
import { removeTrees } from "../../lib/tree-removal.ts";
import { DISK_IS_FULL } from "../journal/instance-journal.ts";
import type { CgroupBackend } from "../os/cgroup-backends.ts";
import { complaintOf, runInBackground } from "./background-program.ts";

/** The program that unpacks a stream refused its bytes. */
export class UnreadableStream extends PublicError {
  override name = "UnreadableStream";

  constructor(complaint: string) {
    super("The data of the backup could not be unpacked.", new Error(complaint));
  }
}

/** The data folder to build, and what it is built for. */
export interface DataBuild {
  id: string;
  engine: Engine;
  recipe: EngineBackup;
  context: EngineContext<InstanceSpec>;
  /** The folder in which `data` is built. */
  folder: string;
  cgroups: CgroupBackend | null;
  /** Whether the data is deleted after a look at it: then all else on the machine comes first. */
  isThrowAway: boolean;
  /** Gives the build up. */
  signal: AbortSignal;
  /** Gets how much is done. */
  progress(doneBytes: number, totalBytes: number): void;
}

/** The folders of a build. */
export function foldersOf({ folder }: DataBuild): { dataDir: string; workDir: string } {
  return { dataDir: join(folder, "data"), workDir: join(folder, "work") };
}

/**
 * Makes the folders of a build anew, for the user of the instance. That user passes through the folder that they are in, and
 * cannot write to it: a program of the restore, which runs over a customer's data, must not put a link in their place.
 */
export async function emptyFolders(build: DataBuild): Promise<void> {
  const { account } = build.context;
  const { dataDir, workDir } = foldersOf(build);
  await removeTrees([dataDir, workDir]);
  for (const path of [dataDir, workDir]) mkdirSync(path, { mode: 0o700 });
  if (account === null) return;
  for (const path of [dataDir, workDir]) chownSync(path, account.uid, account.gid);
  chmodSync(build.folder, 0o711);
}

/**
 * Unpacks the stream.
 * @param onBytes gets the size of each part.
 * @returns the bytes of the stream.
 * @throws what the stream throws; UnreadableStream when the program refuses it, PublicError when it fails otherwise.
 */
export async function unpack(
  build: DataBuild,
  format: BackupFacts["format"],
  stream: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<number> {
  const { recipe, context, signal, isThrowAway: isBehind } = build;
  const { dataDir } = foldersOf(build);
  const argv = recipe.unpack({ format }, dataDir, context.installed);
  const options = { cwd: dataDir, isBehind, stdin: "pipe", stdout: "ignore" } as const;
  const program = runInBackground(build, argv, options);
  const complaint = complaintOf(program.stderr);
  const kill = () => program.kill("SIGKILL");
  signal.addEventListener("abort", kill);
  try {
    const bytes = await pump(stream, program, onBytes);
    const code = await program.exited;
    signal.throwIfAborted();
    if (code !== 0) throw unpackingFailed(code, await complaint);
    return bytes;
  } finally {
    signal.removeEventListener("abort", kill);
    kill();
    await program.exited;
  }
}

/** Passes the stream to the program, unless that ends before. */
async function pump(
  stream: AsyncIterable<Uint8Array>,
  { stdin, exited }: ReturnType<typeof runInBackground>,
  onBytes: (bytes: number) => void,
): Promise<number> {
  let bytes = 0;
  let hasEnded = false;
  void exited.then(() => (hasEnded = true));
  for await (const chunk of stream) {
    if (hasEnded) break;
    await Promise.race([written(stdin, chunk), exited]);
    bytes += chunk.byteLength;
    onBytes(chunk.byteLength);
  }
  await Promise.race([stdin?.end(), exited]);
  return bytes;
}

async function written(stdin: Bun.FileSink | undefined, chunk: Uint8Array): Promise<void> {
  try {
    await stdin?.write(chunk);
    await stdin?.flush();
  } catch {
    // The program has ended, and its exit code says why.
  }
}

function unpackingFailed(code: number | null, complaint: string): PublicError {
  const cause = new Error(complaint);
  if (complaint.includes("No space left on device")) return new PublicError(DISK_IS_FULL, cause);
  // A signal says nothing about the bytes.
  if (code === null)
    return new PublicError("The unpacking of the backup was ended before it was done.", cause);
  return new UnreadableStream(complaint);
}

/** Makes the folder of the log in unpacked data that came without it. */
export function ensureLogFolder({ context: { account } }: DataBuild, folder: string): void {
  if (existsSync(folder)) return;
  mkdirSync(folder, { mode: 0o700 });
  if (account !== null) chownSync(folder, account.uid, account.gid);
}

/**
 * Writes a file of the log into the unpacked data. No process of the instance's user runs, and the folder is no link.
 * @returns its bytes.
 */
export async function writeLog(
  { context: { account } }: DataBuild,
  folder: string,
  name: string,
  content: AsyncIterable<Uint8Array>,
): Promise<number> {
  if (realpathSync(folder) !== folder)
    throw new PublicError("The data of the backup is not as it should be.");
  const path = join(folder, name);
  rmSync(path, { recursive: true, force: true });
  const fd = openSync(path, "wx", 0o600);
  let bytes = 0;
  try {
    for await (const chunk of content) {
      for (let done = 0; done < chunk.byteLength;) done += writeSync(fd, chunk, done);
      bytes += chunk.byteLength;
    }
    if (account !== null) fchownSync(fd, account.uid, account.gid);
  } finally {
    closeSync(fd);
  }
  return bytes;
}
