// Builds that are kept, so that only changed sources are built again: their names, which sources decide, and their places.
import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { sha256Hex } from "../../lib/secrets.ts";
import { CHECKOUT_DIR } from "./checkout.ts";

/** Builds of other sources that are kept, for a change back. */
const KEPT_BUILDS = 3;

/** What else decides what is built, in the root folder. */
const PACKAGES = ["package.json", "package-lock.json"];

/**
 * The name of a build: the same sources, packages and Bun have the same name. Takes some 20 ms for all sources.
 * @param folders of sources, as absolute paths. @param options of the build, of which each has builds of its own.
 */
export function buildName(folders: string[], options = ""): string {
  const sources = [...new Set(folders)].flatMap(filesBelow).filter((path) => !path.endsWith(".test.ts"));
  const contents = [...sources.toSorted(), ...PACKAGES.map((name) => join(CHECKOUT_DIR, name))].map(
    (path) => `${relative(CHECKOUT_DIR, path)} ${sha256Hex(readFileSync(path))}`,
  );
  return sha256Hex([Bun.version, options, ...contents].join("\n")).slice(0, 16);
}

/** A kind may have no pages yet. */
function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Where builds are kept beside the packages, if the checkout can be written. */
export function buildsFolder(name: "console" | "program"): string {
  return join(CHECKOUT_DIR, "node_modules/.cache", `pilvi-${name}`);
}

/** Whether the folder is there, or was made, and can be written. */
export function isWritable(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Puts a build into another folder as well. */
export function placeBuild(build: string, target: string): void {
  if (existsSync(target)) return;
  const temporary = besides(target);
  for (const path of filesBelow(build)) {
    const copy = join(temporary, relative(build, path));
    mkdirSync(dirname(copy), { recursive: true });
    linkOrCopy(path, copy);
  }
  nameBuild(temporary, target);
}

/** A link costs no space; a copy does where the folder is on another disk. */
export function linkOrCopy(from: string, to: string): void {
  // A killed process of the same number may have left a link to a program that runs, which no copy may overwrite.
  rmSync(to, { force: true });
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

/** A folder beside the target, whose name says which process uses it. */
export function besides(target: string): string {
  return `${target}.${process.pid}`;
}

/**
 * Renames what was written beside the target, so that neither a kill nor a power cut leaves half of a build under the
 * name. Another process may have made the same build meanwhile.
 */
export function nameBuild(temporary: string, target: string): void {
  for (const path of statSync(temporary).isFile() ? [temporary] : filesBelow(temporary)) sync(path);
  try {
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
}

function sync(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Removes all but the latest builds, and with them what killed builds left. @param kept are never removed. */
export function pruneBuilds(builds: string, kept: string[]): void {
  const old = readdirSync(builds)
    .filter((each) => !kept.includes(each))
    .map((each) => ({ each, builtAt: statSync(join(builds, each)).mtimeMs }))
    .sort((a, b) => b.builtAt - a.builtAt)
    .slice(KEPT_BUILDS);
  for (const { each } of old) rmSync(join(builds, each), { recursive: true, force: true });
}
