// Folders of a release that a running application can write to: in memory, so that what it writes counts as its own
// memory and ends with its process.
import { lstatSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Runtime } from "../../contracts/application.ts";
import { isFolderItself } from "../../lib/files.ts";
import { shellWord } from "../../lib/shell-word.ts";
import type { Mount, Sandbox } from "../sandbox/sandbox.ts";

/** The part of a process's memory that a folder which grows may take; an endless cache would end the process. */
const GROWTH_PART = 8;

/** Each file and folder of the release in a folder that grows is a mount of its own. */
const MAX_ENTRIES = 100;

/** A folder that takes more has more entries: reading a million of them would hold up the host. */
const MAX_FOLDER_BYTES = 64 * 1024;

/** The folders of a release that a process can write to, as its sandbox can show them. */
export interface WritableFolders {
  /** They begin with copies of the files of the release. */
  copied: readonly string[];
  /** New files come beside those of the release, which stay as they are; parents come first. */
  growing: readonly { folder: string; entries: readonly string[] }[];
  /** The most bytes of each folder; null is as much as the process may have. */
  maxBytes: number | null;
}

/** The folders of the release that the start script copies, so that the process may write to the copies. */
export function copiedIn(app: string, runtime: Runtime, sandbox: Sandbox): string[] {
  if (sandbox.level !== "bubblewrap" || !("writable" in runtime)) return [];
  if (runtime.name !== "php" && !sandbox.boundsMemory) return [];
  return (runtime.writable ?? []).filter((folder) => isFolder(app, folder));
}

/** The folders that a runtime wants to write to, and that the release has. */
export function writableIn(
  app: string,
  runtime: Runtime,
  sandbox: Sandbox,
  memoryBytes: number,
): WritableFolders {
  const copied = copiedIn(app, runtime, sandbox);
  const isJavaScript = runtime.name === "node" || runtime.name === "bun";
  if (!isJavaScript || sandbox.level !== "bubblewrap" || !sandbox.boundsMemory)
    return { copied, growing: [], maxBytes: null };
  const maxBytes = Math.floor(memoryBytes / GROWTH_PART);
  return { copied, growing: growingIn(app, runtime.growing ?? []), maxBytes };
}

/** A sandbox shows each empty, and the files of the release in it or beside it. */
export function mountsOfWritable(app: string, { copied, growing, maxBytes }: WritableFolders): Mount[] {
  const memory = (folder: string): Mount => ({
    from: null,
    to: join("/app", folder),
    isWritable: true,
    ...(maxBytes !== null && { maxBytes }),
  });
  return [
    ...growing.flatMap(({ folder, entries }) => [
      memory(folder),
      ...entries.map((name) => ({
        from: join(app, folder, name),
        to: join("/app", folder, name),
        isWritable: false,
      })),
    ]),
    ...copied.flatMap((folder, index) => [
      { from: join(app, folder), to: placeOf(index), isWritable: false },
      memory(folder),
    ]),
  ];
}

/** The lines of a script that copy the files of the release. */
export function fillWritable(copied: readonly string[]): string {
  return copied
    .map((folder, index) => `cp -R ${placeOf(index)}/. ${shellWord(join("/app", folder))}/\n`)
    .join("");
}

/** A folder that the release lacks is made by the application, in its parent. */
function growingIn(app: string, wanted: readonly string[]): WritableFolders["growing"] {
  const folders = wanted.map((folder) => (isFolder(app, folder) ? folder : dirname(folder)));
  return [...new Set(folders)].toSorted().flatMap((folder) => {
    if (folder === "." || !isFolder(app, folder)) return [];
    if (lstatSync(join(app, folder)).size > MAX_FOLDER_BYTES) return [];
    const entries = readdirSync(join(app, folder), { withFileTypes: true });
    // The source of a mount is followed where it is a link, and may then be anything of the machine.
    const isPlain = entries.every((entry) => entry.isFile() || entry.isDirectory());
    return isPlain && entries.length <= MAX_ENTRIES
      ? [{ folder, entries: entries.map(({ name }) => name) }]
      : [];
  });
}

function placeOf(index: number): string {
  return `/run/release/${index}`;
}

/** A link may lead anywhere, so a path with a link in it is none of the folders. */
function isFolder(app: string, folder: string): boolean {
  const parts = folder.split("/");
  return parts.every((_, index) => isFolderItself(join(app, ...parts.slice(0, index + 1))));
}
