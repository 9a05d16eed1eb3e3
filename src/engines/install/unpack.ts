// Unpacks the packages of an engine into a folder from which its programs can start.
import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Apt, DebianPackage } from "./apt.ts";
import { finishEngine, type UnfinishedEngine } from "./finish.ts";
import type { DebianRecipe } from "./recipes.ts";
import { mustRun } from "./run.ts";

/** Where packages come from. */
export interface Origin {
  apt: Apt;
  /** The codename of the release that the packages are made for. */
  release: string;
  /** Whether that release differs from the system's, so that its C library comes along. */
  isForeign: boolean;
}

/** Of all packages that a bare apt resolves, those with programs and with libraries; the others configure a system. */
export function neededPackages(recipe: DebianRecipe, resolved: DebianPackage[]): DebianPackage[] {
  return resolved.filter(({ name }) => recipe.packages.includes(name) || /^(lib|zlib1g$)/.test(name));
}

/**
 * Makes an engine from downloaded packages.
 * @returns its version.
 * @throws Error when a package is missing, or the engine does not run or has known holes.
 */
export async function unpack(
  recipe: DebianRecipe,
  packages: DebianPackage[],
  origin: Origin,
  enginesDir: string,
): Promise<string> {
  const archives = packages.map((one) => origin.apt.archiveOf(one));
  const { name, program, tools } = recipe;
  const folder = join(enginesDir, `${name}.tmp`);
  await mkdir(folder);
  for (const archive of archives) await mustRun(["dpkg-deb", "--extract", archive, folder], enginesDir);
  const engine: UnfinishedEngine = { name, folder, program, libraryDirs: await libraryDirs(folder) };
  const main = packages.find((one) => one.name === recipe.packages[0]);
  if (main !== undefined) engine.package = { version: main.version, release: origin.release };
  if (origin.isForeign) engine.loader = await loaderIn(engine);
  await writeLaunchers(engine, tools);
  return finishEngine(engine, enginesDir);
}

/** The folders that a loader would search in the unpacked packages: those of this machine's triplet. */
export async function libraryDirs(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const parent of ["usr/lib", "lib"]) {
    if (!existsSync(join(folder, parent))) continue;
    const entries = await readdir(join(folder, parent));
    found.push(
      ...entries.filter((entry) => entry.endsWith("-linux-gnu")).map((entry) => join(parent, entry)),
    );
  }
  return found;
}

async function loaderIn({ name, folder, libraryDirs: folders }: UnfinishedEngine): Promise<string> {
  for (const parent of folders) {
    const loader = (await readdir(join(folder, parent))).find((entry) =>
      /^ld-linux-.*\.so\.\d+$/.test(entry),
    );
    if (loader !== undefined) return join(parent, loader);
  }
  throw new Error(`the C library of the ${name} that was unpacked has no loader`);
}

/** Writes scripts that start the tools with the libraries beside them, wherever the folder is. */
async function writeLaunchers({ folder, loader, libraryDirs: folders }: UnfinishedEngine, tools: string[]) {
  await mkdir(join(folder, "bin"));
  const libraries = folders.map((parent) => `$home/${parent}`).join(":");
  const start =
    loader === undefined
      ? `LD_LIBRARY_PATH="${libraries}" exec`
      : `exec "$home/${loader}" --inhibit-cache --library-path "${libraries}"`;
  for (const tool of tools) {
    const script = [
      "#!/bin/sh",
      'home=$(cd "$(dirname "$0")/.." && pwd)',
      `${start} "$home/${tool}" "$@"`,
      "",
    ];
    await writeFile(join(folder, "bin", basename(tool)), script.join("\n"), { mode: 0o755 });
  }
}
