// The files of a folder as git knows them: tracked files, and new files that nothing ignores and that somebody may want to deploy.
import { dirname, join } from "node:path";
import { CommandError } from "../failure.ts";
import { isNeverDeployed, nameRefusal, statsOf, textOfName } from "./file-names.ts";

const MAX_BYTES = 64 << 20;

const UNTRACKED = "?".charCodeAt(0);

/** Paths relative to the folder. */
interface GitFiles {
  names: string[];
  /** Repositories within the repository that git does not list, such as a submodule that was not checked out. */
  omitted: string[];
}

/** Why git lists nothing, in English. */
interface Unlisted {
  reason: string;
}

/** A folder in no repository. For a repository that git cannot open, it says something else. */
const NO_REPOSITORY = "not a git repository (or any";

/**
 * Lists a folder, with the files of repositories within it, each as its own rules say.
 * @returns null where the folder is in no repository, or there is no git.
 * @throws CommandError for a name that is no text, and when git cannot open the repository, whose rules would not be
 * kept then.
 */
export async function filesOfGit(folder: string): Promise<GitFiles | null> {
  if (Bun.which("git") === null) return null;
  const files = await filesOf(folder, process.env);
  if (!("reason" in files)) return files;
  if (files.reason.includes(NO_REPOSITORY)) return null;
  throw new CommandError(
    `Git cannot list the files of ${folder}, so it is not known what to leave out.\n${files.reason}`,
  );
}

async function filesOf(folder: string, env: NodeJS.ProcessEnv): Promise<GitFiles | Unlisted> {
  const entries = await entriesOf(folder, env);
  if ("reason" in entries) return entries;
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
  if (inner === null || "reason" in inner) {
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

async function entriesOf(folder: string, env: NodeJS.ProcessEnv): Promise<Set<string> | Unlisted> {
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
      env: { ...env, LC_ALL: "C" },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      maxBuffer: MAX_BYTES,
    },
  );
  const [output, errors, code] = await Promise.all([child.stdout.bytes(), child.stderr.text(), child.exited]);
  if (code !== 0)
    return { reason: /^fatal: .*/m.exec(errors)?.[0] ?? `Git ended with the exit code ${code}.` };
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
