// The files of a folder as git knows them: tracked files, and new files that nothing ignores.

const MAX_BYTES = 64 << 20;

/** Paths relative to the folder; null where the folder is in no repository, or there is no git. */
export async function filesOfGit(folder: string): Promise<string[] | null> {
  if (Bun.which("git") === null) return null;
  const child = Bun.spawn(
    [
      "git",
      "-c",
      "core.fsmonitor=false",
      "ls-files",
      "--cached",
      "--others",
      "--exclude-standard",
      "--deduplicate",
      "-z",
    ],
    {
      cwd: folder,
      env: process.env,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
      maxBuffer: MAX_BYTES,
    },
  );
  const [output, code] = await Promise.all([child.stdout.text(), child.exited]);
  if (code !== 0) return null;
  // A repository within the repository is one entry, with a slash at its end.
  return output.split("\0").filter((name) => name !== "" && !name.endsWith("/"));
}
