// Versions from the files of version managers.
import type { VersionedRuntime } from "../contracts/plan.ts";
import type { Folder } from "./folder.ts";
import { linesOf } from "./lines.ts";
import type { VersionRequest } from "./versions.ts";

/** Files with nothing but a version, the first that exists counts. */
const VERSION_FILES: Record<VersionedRuntime, string[]> = {
  node: [".nvmrc", ".node-version"],
  bun: [".bun-version"],
  deno: [],
  php: [],
  python: [".python-version", "runtime.txt"],
};

/** The names of a runtime in .tool-versions. */
const TOOL_NAMES: Record<VersionedRuntime, string[]> = {
  node: ["nodejs", "node"],
  bun: ["bun"],
  deno: ["deno"],
  php: ["php"],
  python: ["python"],
};

/** The version that a file of a version manager asks for, in the first of the folders that has such a file. */
export function fileVersion(name: VersionedRuntime, folders: readonly Folder[]): VersionRequest | null {
  for (const folder of folders) {
    for (const file of VERSION_FILES[name]) {
      const range = firstLine(folder.text(file) ?? "").replace(/^python-/, "");
      if (range !== "") return { range, origin: file };
    }
    const range = toolVersion(name, folder.text(".tool-versions") ?? "");
    if (range !== undefined) return { range, origin: ".tool-versions" };
  }
  return null;
}

function firstLine(text: string): string {
  const lines = linesOf(text).slice(0, 50).map(withoutComment);
  return lines.find((line) => line !== "") ?? "";
}

function toolVersion(name: VersionedRuntime, text: string): string | undefined {
  for (const line of linesOf(text).slice(0, 200).map(withoutComment)) {
    const [tool = "", version] = line.split(/\s+/);
    if (TOOL_NAMES[name].includes(tool)) return version;
  }
  return undefined;
}

function withoutComment(line: string): string {
  const [content = ""] = line.split("#", 1);
  return content.trim();
}
