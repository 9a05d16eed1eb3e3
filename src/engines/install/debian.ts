// Installs engines from the distribution's signed packages, into the store instead of the system.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, Refusal } from "../../lib/errors.ts";
import { Apt, type DebianPackage } from "./apt.ts";
import { type AptSource, distributionSources, readSystemSources, sourcesOfRelease } from "./apt-sources.ts";
import type { OsRelease } from "./hints.ts";
import type { Release } from "../foreign-program.ts";
import type { DebianRecipe } from "./recipes.ts";
import { type EngineReport, failedReport } from "./report.ts";
import { mustRun } from "./run.ts";
import { neededPackages, unpack, type Origin } from "./unpack.ts";

interface InstallContext {
  enginesDir: string;
  os: OsRelease;
  progress: (line: string) => void;
}

/** The package with the keys of all supported Debian releases; the keys of the system's release sign it. */
const KEYRING_PACKAGE = "debian-archive-keyring";
const KEYRING_FILE = "usr/share/keyrings/debian-archive-keyring.gpg";

/** Installs as many engines as possible, with a report for each. */
export async function installFromDebian(
  recipes: DebianRecipe[],
  context: InstallContext,
): Promise<EngineReport[]> {
  const { enginesDir, os, progress } = context;
  if (Bun.which("apt-get") === null || Bun.which("dpkg-deb") === null) {
    return failed(recipes, "This system does not install its programs with apt.", os);
  }
  const release = os.UBUNTU_CODENAME ?? os.VERSION_CODENAME ?? "";
  const sources = distributionSources(await readSystemSources(), release);
  if (sources.length === 0)
    return failed(recipes, "The archive of the distribution is not among the system's apt sources.", os);

  progress("fetching package lists");
  const apt = await Apt.create(join(enginesDir, ".apt.tmp"), sources);
  await apt.update();
  const own: Origin = { apt, release, isForeign: false };
  const reports = await installFrom(
    own,
    recipes.filter((recipe) => newerFor(recipe, os) === undefined),
    context,
  );
  for (const newer of new Set(recipes.flatMap((recipe) => newerFor(recipe, os) ?? []))) {
    const itsRecipes = recipes.filter((recipe) => newerFor(recipe, os) === newer);
    reports.push(...(await installFromNewer(newer, own, sources, itsRecipes, context)));
  }
  return reports;
}

/** The release that an engine must come from when the system's own is older. */
function newerFor({ newer }: DebianRecipe, os: OsRelease): Release | undefined {
  return newer !== undefined && os.ID === newer.id && Number(os.VERSION_ID) < newer.versionId
    ? newer
    : undefined;
}

async function installFromNewer(
  { codename }: Release,
  own: Origin,
  sources: AptSource[],
  recipes: DebianRecipe[],
  context: InstallContext,
): Promise<EngineReport[]> {
  const { enginesDir, os, progress } = context;
  try {
    progress(`fetching package lists of ${codename}`);
    const keyring = await fetchKeyring(own.apt, enginesDir);
    const its = sourcesOfRelease(sources, { from: own.release, to: codename, keyring });
    const apt = await Apt.create(join(enginesDir, `.apt-${codename}.tmp`), its, { isBare: true });
    await apt.update();
    return await installFrom({ apt, release: codename, isForeign: true }, recipes, context);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    return failed(recipes, sentence(error), os);
  }
}

/** The keyring of the system may be older than the release whose keys are needed. */
async function fetchKeyring(apt: Apt, enginesDir: string): Promise<string> {
  const keyring = await apt.find(KEYRING_PACKAGE);
  await apt.download([keyring]);
  const folder = join(enginesDir, ".keyring.tmp");
  await mkdir(folder);
  await mustRun(["dpkg-deb", "--extract", apt.archiveOf(keyring), folder], enginesDir);
  return join(folder, KEYRING_FILE);
}

async function installFrom(
  origin: Origin,
  recipes: DebianRecipe[],
  { enginesDir, os, progress }: InstallContext,
): Promise<EngineReport[]> {
  const { apt, isForeign } = origin;
  const packages = new Map<DebianRecipe, DebianPackage[]>();
  const failures: EngineReport[] = [];
  const noting = async (recipe: DebianRecipe, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (error instanceof Refusal) throw error;
      failures.push(failedReport(recipe.name, sentence(error), os));
    }
  };

  for (const recipe of recipes) {
    await noting(recipe, async () => {
      const resolved = await apt.resolve(recipe.packages);
      packages.set(recipe, isForeign ? neededPackages(recipe, resolved) : resolved);
    });
  }
  if (packages.size > 0) {
    progress(`downloading ${[...packages.keys()].map(({ name }) => name).join(", ")}`);
    await apt.download([...packages.values()].flat());
  }

  const installed: EngineReport[] = [];
  const unpacking = [...packages].map(([recipe, itsPackages]) =>
    noting(recipe, async () => {
      const version = await unpack(recipe, itsPackages, origin, enginesDir);
      progress(`${recipe.name} ${version} installed`);
      installed.push({ name: recipe.name, state: "installed", version });
    }),
  );
  await Promise.all(unpacking);
  return [...installed, ...failures];
}

function failed(recipes: DebianRecipe[], reason: string, os: OsRelease): EngineReport[] {
  return recipes.map(({ name }) => failedReport(name, reason, os));
}

function sentence(error: unknown): string {
  return `${messageOf(error).replace(/\.$/, "")}.`;
}
