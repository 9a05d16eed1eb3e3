// Creates the empty repository of an application in one step, which a kill cannot leave half done.
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncFile } from "../lib/files.ts";
import { gitOutput, type GitProgram } from "./git.ts";

const DEADLINE_MS = 60_000;

/** All files of a repository without objects and branches. */
const INITIAL_FILES = ["HEAD", "config"];

/** Creates a bare repository at an unused path. @throws SourceRefusal when git fails. */
export async function createRepository(path: string, git: GitProgram): Promise<void> {
  const beside = `${path}.new`;
  await rm(beside, { recursive: true, force: true });
  await mkdir(beside, { recursive: true, mode: 0o700 });
  await gitOutput(git, ["init", "--quiet", "--bare", "--template=", "--initial-branch=main", "."], {
    repository: beside,
    deadlineMs: DEADLINE_MS,
    what: "The repository could not be made",
  });
  // A name that is on the disk before the files behind it would lead to empty files.
  for (const file of INITIAL_FILES) await syncFile(join(beside, file));
  await rename(beside, path);
  await syncFile(path);
}
