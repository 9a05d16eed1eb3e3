// Reads the branches and commits of a repository.
import { type GitOptions, gitOutput, GitProcess, type GitProgram } from "./git.ts";
import { refOf } from "./names.ts";

const MAX_BRANCHES = 1_000;

/** A commit, as people see it. */
export interface CommitFacts {
  hash: string;
  message: string;
  author: { name: string; email: string };
  committedAt: Date;
}

export interface BranchTip {
  name: string;
  hash: string;
}

/** Resolves the name of a branch or of a commit to a hash; null without such a commit. */
export async function resolveCommit(
  git: GitProgram,
  name: string,
  options: GitOptions,
): Promise<string | null> {
  const args = ["rev-parse", "--quiet", "--verify", "--end-of-options", `${name}^{commit}`];
  const run = new GitProcess(git, args, options);
  const [output, code] = await Promise.all([new Response(run.child.stdout).text(), run.child.exited]);
  return code === 0 ? output.trim() : null;
}

/**
 * The whole hash of a commit that a ref leads to.
 * @param name its hash, which may be shortened.
 * @returns null when the ref leads to no such commit.
 */
export async function commitBehind(
  git: GitProgram,
  ref: string,
  name: string,
  options: GitOptions,
): Promise<string | null> {
  const [tip, commit] = [await resolveCommit(git, ref, options), await resolveCommit(git, name, options)];
  // A branch may be called like the beginning of a hash.
  if (tip === null || commit === null || !commit.startsWith(name)) return null;
  const run = new GitProcess(git, ["merge-base", "--is-ancestor", commit, tip], options);
  return (await run.child.exited) === 0 ? commit : null;
}

/** What means something to git within a name, beyond the name itself. */
const EXPRESSION = /[\s\p{Cc}~^:?*[\\]|\.\.|@\{/u;

/** The first 1,000 branches by name, and those among `also`, wherever they stand. */
export async function readBranches(
  git: GitProgram,
  also: readonly string[],
  options: GitOptions,
): Promise<BranchTip[]> {
  const first = await firstBranches(git, options);
  if (first.length < MAX_BRANCHES) return first;
  const known = new Set(first.map(({ name }) => name));
  const missing = also.filter((name) => !known.has(name) && !EXPRESSION.test(name));
  return [...first, ...(await tipsOf(git, [...new Set(missing)], options))];
}

/** The tips of the named branches that exist. */
async function tipsOf(git: GitProgram, names: readonly string[], options: GitOptions): Promise<BranchTip[]> {
  if (names.length === 0) return [];
  const output = await gitOutput(git, ["cat-file", "--batch-check=%(objectname)"], {
    ...options,
    input: names.map((name) => `${refOf(name)}\n`).join(""),
    what: "The branches could not be read",
    maxBytes: 4 << 20,
  });
  const hashes = output.toString("utf8").split("\n");
  return names
    .map((name, at) => ({ name, hash: hashes[at] ?? "" }))
    .filter(({ hash }) => /^[0-9a-f]{40}$/.test(hash));
}

async function firstBranches(git: GitProgram, options: GitOptions): Promise<BranchTip[]> {
  const format = "--format=%(refname:lstrip=2)%00%(objectname)";
  const output = await gitOutput(git, ["for-each-ref", `--count=${MAX_BRANCHES}`, format, "refs/heads"], {
    ...options,
    what: "The branches could not be read",
    maxBytes: 4 << 20,
  });
  return output
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split("\0"))
    .map(([name = "", hash = ""]) => ({ name, hash }));
}

/** @throws SourceRefusal when there is no such commit. */
export async function readFacts(git: GitProgram, hash: string, options: GitOptions): Promise<CommitFacts> {
  const format = "--format=%H%x00%an%x00%ae%x00%ct%x00%B";
  const output = await gitOutput(
    git,
    ["log", "-1", "--no-show-signature", format, "--end-of-options", hash],
    {
      ...options,
      what: "The commit could not be read",
      maxBytes: 1 << 20,
    },
  );
  const [found = "", name = "", email = "", seconds = "", ...message] = output.toString("utf8").split("\0");
  return {
    hash: found,
    message: message.join("\0").trim().slice(0, 10_000),
    author: { name: oneLine(name), email: oneLine(email) },
    committedAt: new Date(Number(seconds) * 1_000),
  };
}

function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, " ").slice(0, 200);
}
