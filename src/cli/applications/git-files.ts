// The files of a folder as git knows them: tracked files, and new files that nothing ignores and that somebody may want to deploy.
import { dirname, join } from "node:path";
import { isNeverDeployed, nameRefusal, statsOf, textOfName } from "./file-names.ts";

const MAX_BYTES = 64 << 20;

const UNTRACKED = "?".charCodeAt(0);

/** Paths relative to the folder. */
interface GitFiles {
  names: string[];
  /** Repositories within the repository that git does not list, such as a submodule that was not checked out. */
  omitted: string[];
}

/**
 * Lists a folder, with the files of repositories within it, each as its own rules say.
 * @returns null where the folder is in no repository, or there is no git.
 * @throws CommandError for a name that is no text.
 */
export async function filesOfGit(folder: string): Promise<GitFiles | null> {
  if (Bun.which("git") === null) return null;
  return await filesOf(folder, process.env);
}

async function filesOf(folder: string, env: NodeJS.ProcessEnv): Promise<GitFiles | null> {
  const entries = await entriesOf(folder, env);
  if (entries === null) return null;
  const files: GitFiles = { names: [], omitted: [] };
  for (const entry of entries) {
    if (statsOf(join(folder, entry))?.isDirectory() !== true) files.names.push(entry);
    else await addFolder(files, folder, entry, entries);
  }
  return files;
}

/** Git has no entries for folders, so this is a repository, or has come in the place of a tracked file. */
async function addFolder(
  files: GitFiles,
  folder: string,
  entry: string,
  entries: ReadonlySet<string>,
): Promise<void> {
  const path = join(folder, entry);
  const isRepository = statsOf(join(path, ".git")) !== undefined;
  if (!isRepository && [...entries].some((other) => other.startsWith(`${entry}/`))) return;
  const inner = isRepository ? await filesOf(path, innerEnv(path)) : null;
  if (inner === null) {
    files.omitted.push(entry);
    return;
  }
  for (const name of inner.names) files.names.push(`${entry}/${name}`);
  for (const name of inner.omitted) files.omitted.push(`${entry}/${name}`);
}

/** Variables that name the outer repository, as in a hook, are not passed on, and git does not look for it either. */
function innerEnv(path: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  return { ...Object.fromEntries(own), GIT_CEILING_DIRECTORIES: dirname(path) };
}

/** What git lists; null where it does not. */
async function entriesOf(folder: string, env: NodeJS.ProcessEnv): Promise<Set<string> | null> {
  const child = Bun.spawn(
    [
      "git",
      "-c",
      "core.fsmonitor=false",
      "ls-files",
      "--cached",
      "--others",
      "--exclude-standard",
      // A letter before each name, such as `?` for a file that is not tracked.
      "-t",
      "-z",
    ],
    {
      cwd: folder,
      env,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
      maxBuffer: MAX_BYTES,
    },
  );
  const [output, code] = await Promise.all([child.stdout.bytes(), child.exited]);
  if (code !== 0) return null;
  return new Set(namesIn(output).flatMap((line) => entryOf(folder, line)));
}

/** The parts of a text that a zero byte ends. */
function namesIn(output: Uint8Array): Uint8Array[] {
  const names: Uint8Array[] = [];
  for (let start = 0, end = output.indexOf(0); end !== -1; start = end + 1, end = output.indexOf(0, start))
    names.push(output.subarray(start, end));
  return names;
}

/**
 * The path in a line such as `? web/new.html`; none for what nobody deploys on purpose, unless git tracks it.
 * @throws CommandError for a name that is no text, unless nothing has it any more.
 */
function entryOf(folder: string, line: Uint8Array): string[] {
  const bytes = line.subarray(2);
  const text = textOfName(bytes);
  if (text !== undefined && line[0] === UNTRACKED && isNeverDeployed(text)) return [];
  // A repository that is not tracked has a slash at its end.
  if (text !== undefined) return [text.replace(/\/$/, "")];
  if (statsOf(Buffer.concat([Buffer.from(`${folder}/`), bytes])) === undefined) return [];
  throw nameRefusal(Buffer.from(bytes).toString());
}
