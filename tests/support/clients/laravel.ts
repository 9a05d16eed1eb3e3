// A real Laravel for tests: the framework and what it needs from the distribution's packages, fetched once and unpacked
// beside the engines, as a single package for Composer, whose registry tests do not ask.
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Files } from "../pilvi/applications.ts";
import { PROGRAMS_HOME } from "./programs.ts";
import { unpackPackages } from "./unpack-packages.ts";

const HOME = join(dirname(PROGRAMS_HOME), "test-laravel");
const SKELETON = join(import.meta.dir, "../applications/laravel");

/** Where the application has the package, as its `composer.json` says. */
const PACKAGE = "packages/framework";

/** Packages load files with functions themselves; classes are found by Composer. */
const LOADED = /^require_once __DIR__\s*\.\s*'(\/[^']+)';/gm;

/** Fetches the packages where they are missing. @throws Error where the distribution has none. */
export async function ensureLaravel(): Promise<void> {
  if (existsSync(HOME)) return;
  await unpackPackages(
    ["php-laravel-framework"],
    HOME,
    makePackage,
    ({ name, architecture }) => name.startsWith("php-") && architecture === "all",
  );
}

/** Whether the packages are there. */
export function hasLaravel(): boolean {
  return existsSync(HOME);
}

/** The source of the application with its packages. @param changed files in the place of others, or beside them. */
export function laravelFiles(changed: Files = {}): Files {
  return { ...filesBelow(HOME, PACKAGE), ...filesBelow(SKELETON, ""), ...changed };
}

async function makePackage(folder: string): Promise<void> {
  const source = join(folder, "src");
  await rename(join(folder, "usr/share/php"), source);
  for (const name of await readdir(folder))
    if (name !== "src") await rm(join(folder, name), { recursive: true });
  const manifest = {
    name: "laravel/framework",
    version: versionIn(source),
    autoload: { classmap: ["src/"], files: filesWithFunctions(source).map((path) => `src/${path}`) },
  };
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "composer.json"), JSON.stringify(manifest));
}

function versionIn(source: string): string {
  const text = readFileSync(join(source, "Illuminate/Foundation/Application.php"), "utf8");
  const version = /const VERSION = '([\d.]+)'/.exec(text)?.[1];
  if (version === undefined) throw new Error("the packages have no Laravel");
  return version;
}

function filesWithFunctions(source: string): string[] {
  const loaders = [...new Bun.Glob("**/autoload.php").scanSync(source)].toSorted();
  const loaded = loaders.flatMap((loader) => {
    const text = readFileSync(join(source, loader), "utf8");
    return [...text.matchAll(LOADED)].map(([, path = ""]) => join(dirname(loader), path));
  });
  return [...new Set(loaded)].filter((path) => !path.endsWith("autoload.php"));
}

function filesBelow(folder: string, place: string): Files {
  const paths = new Bun.Glob("**").scanSync({ cwd: folder, dot: true });
  return Object.fromEntries(
    Array.from(paths, (path) => [join(place, path), readFileSync(join(folder, path), "utf8")]),
  );
}
