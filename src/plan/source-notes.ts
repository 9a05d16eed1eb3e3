// What a commit names without having it: the files of submodules, and the contents of files that Git LFS keeps.
import { PLAN_BOUNDS } from "../contracts/plan.ts";
import { PlanRefusal, quoted } from "./faults.ts";
import { SOURCE_BOUNDS, type SourceEntry, type SourceFiles } from "./source-files.ts";
import { listText } from "./texts.ts";

/** How many paths a note has. */
const SHOWN_PATHS = 5;

/** How many files of attributes, and how many files that may be pointers, are read. */
const [MAX_ATTRIBUTES, MAX_POINTERS] = [100, 2_000];

/** Bytes of a pointer; one with extensions is larger, and rare. */
const POINTER_BYTES = { least: 120, most: 200 };

const POINTER = "version https://git-lfs.github.com/spec/v1\n";

/** Sentences about what is missing, with its paths. */
export async function sourceNotes(source: SourceFiles): Promise<string[]> {
  return [...submoduleNotes(source), ...lfsNotes(await pointersIn(source))].map((note) =>
    note.slice(0, PLAN_BOUNDS.note),
  );
}

/** @throws PlanRefusal when the root directory is in a submodule. */
export function refuseSubmodule({ entries }: SourceFiles, root: string): void {
  const found = entries.find(({ kind, path }) => kind === "submodule" && `${root}/`.startsWith(`${path}/`));
  if (found === undefined) return;
  throw new PlanRefusal(
    `root_directory is ${quoted(root)}, which is in the submodule ${quoted(found.path)}, and Pilvi fetches no submodules. pilvi deploy uploads a checked-out submodule with its files.`,
  );
}

function submoduleNotes({ entries }: SourceFiles): string[] {
  const paths = entries.filter(({ kind }) => kind === "submodule").map(({ path }) => path);
  if (paths.length === 0) return [];
  const [are, folders, files] =
    paths.length === 1
      ? ["is a submodule", "its folder is", "a checked-out submodule with its"]
      : ["are submodules", "their folders are", "checked-out submodules with their"];
  return [
    `${pathsText(paths)} ${are}, which Pilvi does not fetch: ${folders} empty. pilvi deploy uploads ${files} files.`,
  ];
}

function lfsNotes(paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const are = paths.length === 1 ? "is a pointer" : "are pointers";
  return [
    `${pathsText(paths)} ${are} of Git LFS, whose contents Pilvi does not fetch. Run git lfs pull, and deploy the folder with pilvi deploy.`,
  ];
}

/** The paths of files whose content is a pointer; nothing is read where no attribute names Git LFS. */
async function pointersIn(source: SourceFiles): Promise<string[]> {
  const files = source.entries.filter(({ kind }) => kind === "file");
  const attributes = files.filter(isAttributes).slice(0, MAX_ATTRIBUTES);
  if (!(await textsOf(source, attributes)).some(([, text]) => /\sfilter=lfs\b/.test(text))) return [];
  const { least, most } = POINTER_BYTES;
  const small = files.filter(({ bytes }) => bytes >= least && bytes <= most).slice(0, MAX_POINTERS);
  const texts = await textsOf(source, small);
  return texts.filter(([, text]) => text.startsWith(POINTER)).map(([path]) => path);
}

function isAttributes({ path, bytes }: SourceEntry): boolean {
  return /(?:^|\/)\.gitattributes$/.test(path) && bytes <= SOURCE_BOUNDS.file / MAX_ATTRIBUTES;
}

async function textsOf(
  source: SourceFiles,
  entries: readonly SourceEntry[],
): Promise<[path: string, text: string][]> {
  if (entries.length === 0) return [];
  const contents = await source.read(entries.map(({ path }) => path));
  return [...contents].map(([path, bytes]) => [path, new TextDecoder().decode(bytes)]);
}

function pathsText(paths: readonly string[]): string {
  const shown = paths.slice(0, SHOWN_PATHS).map(quoted);
  return listText(paths.length > shown.length ? [...shown, `${paths.length - shown.length} more`] : shown);
}
