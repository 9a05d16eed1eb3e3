// The tar of a commit for its build, with all of its files as they are.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { readIfPresent, replaceFile } from "../lib/files.ts";
import { SourceRefusal } from "./faults.ts";
import { GitProcess, type GitOptions, type GitProgram } from "./git.ts";
import { streamOf } from "./streams.ts";

/**
 * Overrules the attributes of every commit that would leave out or change files in its tar. An encoding can only be
 * unset, since git takes its negation for the name of an encoding, and makes no tar then.
 */
const ATTRIBUTES = "* -export-ignore -export-subst -text -ident -filter !working-tree-encoding\n";

/** Writes the attributes that hold for all commits of a repository, in place of those of a former release. */
export function ensureAttributes(repository: string): void {
  const file = join(repository, "info", "attributes");
  if (readIfPresent(file) === ATTRIBUTES) return;
  mkdirSync(join(repository, "info"), { recursive: true });
  replaceFile(file, ATTRIBUTES, 0o600);
}

/** A tar of all files of a commit. Its reader gets a SourceRefusal when git fails or the tar has more bytes. */
export function commitTar(
  git: GitProgram,
  hash: string,
  maxBytes: number,
  options: GitOptions,
): ReadableStream<Uint8Array> {
  const run = new GitProcess(git, ["archive", "--format=tar", hash], options);
  void run.child.stdin.end();
  return streamOf(outputOf(run, maxBytes));
}

async function* outputOf(run: GitProcess, maxBytes: number): AsyncGenerator<Uint8Array> {
  let [bytes, isWhole] = [0, false];
  try {
    for await (const part of run.child.stdout) {
      bytes += part.length;
      if (bytes > maxBytes) throw new SourceRefusal("The files of the commit are larger than Pilvi takes.");
      yield part;
    }
    isWhole = true;
    await run.succeeded("The files of the commit could not be read");
  } finally {
    if (!isWhole) run.kill();
  }
}
