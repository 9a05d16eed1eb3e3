// Installs engines out of the distribution's signed packages, into the store instead of the system.
import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, Refusal } from "../../lib/errors.ts";
import { Apt, type DebianPackage } from "./apt.ts";
import { distributionSources, readSystemSources } from "./apt-sources.ts";
import { finishEngine } from "./finish.ts";
import type { OsRelease } from "./hints.ts";
import type { DebianRecipe } from "./recipes.ts";
import { type EngineReport, failedReport } from "./report.ts";
import { mustRun } from "./run.ts";

interface Surroundings {
  enginesDir: string;
  os: OsRelease;
  progress: (line: string) => void;
}

/** Installs what it can; each engine has its own report. */
export async function installFromDebian(
  recipes: DebianRecipe[],
  surroundings: Surroundings,
): Promise<EngineReport[]> {
  const { enginesDir, os, progress } = surroundings;
  const fail = (reason: string) => recipes.map(({ name }) => failedReport(name, reason, os));
  if (Bun.which("apt-get") === null || Bun.which("dpkg-deb") === null) {
    return fail("This system does not install its programs with apt.");
  }
  const codename = os.UBUNTU_CODENAME ?? os.VERSION_CODENAME ?? "";
  const sources = distributionSources(await readSystemSources(), codename);
  if (sources.length === 0)
    return fail("The archive of the distribution is not among the system's apt sources.");

  progress("fetching package lists");
  const folder = join(enginesDir, ".apt.tmp");
  const apt = await Apt.create(folder, sources);
  await apt.update();
  return installWith(apt, recipes, surroundings);
}

async function installWith(
  apt: Apt,
  recipes: DebianRecipe[],
  { enginesDir, os, progress }: Surroundings,
): Promise<EngineReport[]> {
  const packages = new Map<DebianRecipe, DebianPackage[]>();
  const failures: EngineReport[] = [];
  const noting = async (recipe: DebianRecipe, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (error instanceof Refusal) throw error;
      failures.push(failedReport(recipe.name, `${messageOf(error).replace(/\.$/, "")}.`, os));
    }
  };

  for (const recipe of recipes) {
    await noting(recipe, async () => void packages.set(recipe, await apt.resolve(recipe.packages)));
  }
  if (packages.size > 0) {
    progress(`downloading ${[...packages.keys()].map(({ name }) => name).join(", ")}`);
    await apt.download([...packages.values()].flat());
  }

  const installed: EngineReport[] = [];
  const unpacking = [...packages].map(([recipe, itsPackages]) =>
    noting(recipe, async () => {
      const archives = itsPackages.map((one) => apt.archiveOf(one));
      const version = await unpack(recipe, archives, enginesDir);
      progress(`${recipe.name} ${version} installed`);
      installed.push({ name: recipe.name, state: "installed", version });
    }),
  );
  await Promise.all(unpacking);
  return [...installed, ...failures];
}

async function unpack(recipe: DebianRecipe, archives: string[], enginesDir: string): Promise<string> {
  const folder = join(enginesDir, `${recipe.name}.tmp`);
  await mkdir(folder);
  for (const archive of archives) await mustRun(["dpkg-deb", "--extract", archive, folder], enginesDir);
  const { name, program } = recipe;
  return finishEngine({ name, folder, program, libraryDirs: await libraryDirs(folder) }, enginesDir);
}

/** The folders that the system's loader would search, in the unpacked packages: those of this machine's triplet. */
async function libraryDirs(folder: string): Promise<string[]> {
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
