// Folders of a release that a running application can write to: in memory, so that what it writes counts as its own
// memory and ends with its process. They begin with the files that the release has there.
import { join } from "node:path";
import type { Runtime } from "../../contracts/application.ts";
import { isFolderItself } from "../../lib/files.ts";
import { shellWord } from "../../lib/shell-word.ts";
import type { Mount } from "../sandbox/sandbox.ts";

/** The folders that a runtime wants to write to, and that the release has. */
export function writableIn(app: string, runtime: Runtime): string[] {
  return runtime.name === "php" ? runtime.writable.filter((folder) => isFolder(app, folder)) : [];
}

/** A sandbox shows each empty, and the files of the release beside it. */
export function mountsOfWritable(app: string, folders: readonly string[]): Mount[] {
  return folders.flatMap((folder, index) => [
    { from: join(app, folder), to: placeOf(index), isWritable: false },
    { from: null, to: join("/app", folder), isWritable: true },
  ]);
}

/** The lines of a script that copy the files of the release. */
export function fillWritable(folders: readonly string[]): string {
  return folders
    .map((folder, index) => `cp -R ${placeOf(index)}/. ${shellWord(join("/app", folder))}/\n`)
    .join("");
}

function placeOf(index: number): string {
  return `/run/release/${index}`;
}

/** A link may lead anywhere, so a path with a link in it is none of the folders. */
function isFolder(app: string, folder: string): boolean {
  const parts = folder.split("/");
  return parts.every((_, index) => isFolderItself(join(app, ...parts.slice(0, index + 1))));
}
