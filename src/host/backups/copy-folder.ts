// Copies the data folder of a stopped instance for a clone, by sharing the blocks of its files where the file system can
// do that.
import { rmSync } from "node:fs";
import { PublicError } from "../../lib/errors.ts";
import { DISK_IS_FULL } from "../journal/instance-journal.ts";
import { diskUseOf } from "../os/disk-use.ts";
import { complaintOf, runInBackground } from "./background-program.ts";
import { isFolderItself } from "../../lib/files.ts";
import { removeLeftOut, type LeftOut } from "./left-out.ts";
import { foldersOf, type DataBuild } from "./unpack.ts";

/** More files than any instance has. */
const MAX_FILES = 10_000_000;

/** The data of a stopped instance. */
export interface StoppedData extends LeftOut {
  path: string;
}

/**
 * Makes the data folder of a build a copy of another folder, in which nothing runs; it belongs to the user of the build.
 * Only the host's own user can read the one and give away the other. Links are copied, given away and left out as links:
 * neither `cp` nor `chown` nor the removal follows any, also not on the way to another file.
 * @returns the bytes of the copy.
 * @throws PublicError when it cannot be made; the reason of the signal, when that is aborted.
 */
export async function copyFolder(
  build: DataBuild,
  { path, ...leftOut }: StoppedData,
  signal: AbortSignal,
): Promise<number> {
  const { dataDir } = foldersOf(build);
  const { account } = build.context;
  rmSync(dataDir, { recursive: true, force: true });
  await run(build, ["/usr/bin/cp", "--archive", "--reflink=auto", "--", path, dataDir], signal);
  if (!isFolderItself(dataDir))
    throw new PublicError("The data could not be copied.", new Error("it is a link"));
  await removeLeftOut(dataDir, leftOut, signal);
  if (account !== null) {
    const owner = `${account.uid}:${account.gid}`;
    await run(build, ["/usr/bin/chown", "--recursive", "--no-dereference", "--", owner, dataDir], signal);
  }
  return await diskUseOf(dataDir, MAX_FILES);
}

async function run(build: DataBuild, argv: string[], signal: AbortSignal): Promise<void> {
  const { id, context, cgroups, folder } = build;
  signal.throwIfAborted();
  const installed = { ...context.installed, env: {} };
  const owner = { id, cgroups, context: { limits: context.limits, installed, account: null } };
  const options = { cwd: folder, isBehind: false, stdin: "ignore", stdout: "ignore" } as const;
  const program = runInBackground(owner, argv, options);
  const kill = () => program.kill("SIGKILL");
  signal.addEventListener("abort", kill);
  const [complaint, code] = await Promise.all([complaintOf(program.stderr), program.exited]);
  signal.removeEventListener("abort", kill);
  signal.throwIfAborted();
  if (code === 0) return;
  const isFull = complaint.includes("No space left on device");
  throw new PublicError(isFull ? DISK_IS_FULL : "The data could not be copied.", new Error(complaint));
}
