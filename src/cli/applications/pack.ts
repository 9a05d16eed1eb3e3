// Packs a working folder for an upload: the files that git would take, as a tar with gzip.
import { join } from "node:path";
import { CommandError } from "../failure.ts";
import { statsOf } from "./file-names.ts";
import { filesOfFolder } from "./folder-files.ts";
import { filesOfGit } from "./git-files.ts";

/** The most that Pilvi takes; to find out here is sooner. */
const [MAX_FILES, MAX_BYTES, MAX_FILE_BYTES] = [50_000, 1 << 30, 256 << 20];

/** The same of a path: folders within each other, and bytes. */
const [MAX_FOLDERS, MAX_PATH_BYTES] = [39, 1_000];

const BYTES_OF_A_MEBIBYTE = 1 << 20;

const CONTROL = /\p{Cc}/u;

/** A folder on its way. */
interface Packed {
  files: number;
  /** Bytes of the files, before they are packed. */
  bytes: number;
  /** Repositories within the folder whose files git does not list, so that they are not packed. */
  omitted: string[];
  /**
   * Packs the files; a second call packs them again. The stream ends by a CommandError when a file could not be read,
   * since an archive without that file must not look whole to Pilvi.
   */
  archive(): ReadableStream<Uint8Array>;
}

/**
 * Packs a folder without what `.gitignore` names, with the files of repositories within it. Files that git knows are
 * asked of git; a folder without git is read with the same rules.
 * @throws CommandError when there is nothing to pack, or more than Pilvi takes.
 */
export async function packFolder(folder: string): Promise<Packed> {
  const { names, omitted } = await filesToPack(folder);
  const sizes = names.map((name) => sizeOf(folder, name));
  const present = names.filter((_, at) => sizes[at] !== undefined);
  for (const [at, name] of names.entries()) checkFile(name, sizes[at]);
  const bytes = sizes.reduce<number>((sum, size = 0) => sum + size, 0);
  checkAmount(folder, present.length, bytes);
  return { files: present.length, bytes, omitted, archive: () => pack(folder, present) };
}

/** Paths of the files that a deployment takes along, and of repositories whose files git does not list. */
export async function filesToPack(folder: string): Promise<{ names: string[]; omitted: string[] }> {
  const { names, omitted } = (await filesOfGit(folder)) ?? {
    names: filesOfFolder(folder, MAX_FILES),
    omitted: [],
  };
  // The link of a folder is no part of its application, also where no .gitignore says so.
  return { names: names.filter((name) => !name.startsWith(".pilvi/")), omitted };
}

/** Undefined for a file that was deleted and that git still knows, and for what is neither a file nor a link. */
function sizeOf(folder: string, name: string): number | undefined {
  const stats = statsOf(join(folder, name));
  if (stats === undefined || !(stats.isFile() || stats.isSymbolicLink())) return undefined;
  return stats.isFile() ? stats.size : 0;
}

/** @throws CommandError for a file that Pilvi does not take. */
function checkFile(name: string, bytes: number | undefined): void {
  const fault = bytes === undefined ? undefined : faultOf(name, bytes);
  if (fault === undefined) return;
  const shown = CONTROL.test(name) ? JSON.stringify(name) : name;
  throw new CommandError(
    `${shown} ${fault}, and Pilvi does not take it. Change that, or leave it out with a .gitignore.`,
  );
}

function faultOf(name: string, bytes: number): string | undefined {
  if (CONTROL.test(name)) return "has a control character in its name";
  if (Buffer.byteLength(name) > MAX_PATH_BYTES) return `has a path of more than ${MAX_PATH_BYTES} bytes`;
  if (name.split("/").length - 1 > MAX_FOLDERS) return `is in more than ${MAX_FOLDERS} folders`;
  if (bytes > MAX_FILE_BYTES) return `is larger than ${MAX_FILE_BYTES / BYTES_OF_A_MEBIBYTE} MiB`;
  return undefined;
}

function checkAmount(folder: string, files: number, bytes: number): void {
  if (files === 0)
    throw new CommandError(`There is nothing to deploy in ${folder}: it has no files, or all are ignored.`);
  const remedy = "A .gitignore can leave out what the application does not need, such as node_modules.";
  if (files > MAX_FILES) {
    throw new CommandError(`${folder} has more than ${MAX_FILES} files. ${remedy}`);
  }
  if (bytes > MAX_BYTES) {
    const amounts = [bytes, MAX_BYTES].map((each) => `${Math.ceil(each / BYTES_OF_A_MEBIBYTE)} MiB`);
    throw new CommandError(`The files in ${folder} have ${amounts[0]}; Pilvi takes ${amounts[1]}. ${remedy}`);
  }
}

function pack(folder: string, names: string[]): ReadableStream<Uint8Array> {
  const child = Bun.spawn(
    [
      "tar",
      "--create",
      "--gzip",
      "--file=-",
      "--format=pax",
      "--hard-dereference",
      "--owner=0",
      "--group=0",
      "--numeric-owner",
      // Times of access and the like would only make the archive larger.
      "--pax-option=delete=atime,delete=ctime",
      // These hold for what follows them, so they come last.
      "--no-recursion",
      "--null",
      "--files-from=-",
    ],
    {
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C", GZIP: "" },
      stdin: Buffer.from(names.map((name) => `${name}\0`).join("")),
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  const end = new TransformStream<Uint8Array, Uint8Array>({ flush: () => ended(child.exited, child.stderr) });
  return child.stdout.pipeThrough(end);
}

/** A file that changed while it was read, which tar reports with 1, is in the archive nevertheless. */
async function ended(exited: Promise<number>, stderr: ReadableStream<Uint8Array>): Promise<void> {
  const [code, text] = await Promise.all([exited, new Response(stderr).text()]);
  if (code <= 1) return;
  const [first = "tar failed."] = text.split("\n");
  throw new CommandError(`The folder could not be packed: ${first.replace(/^tar: /, "").slice(0, 300)}`);
}
