// Fills the store of engines without changing the system, for root and for ordinary users.
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { ForeignEngine } from "../../contracts/engine-names.ts";
import { codeOf, messageOf, Refusal } from "../../lib/errors.ts";
import { type FoundEngine, usableEngines } from "../installed.ts";
import { programOf, STORE_ENGINE } from "../registry.ts";
import { verdictOn } from "../safety/verdict.ts";
import { installFromDebian } from "./debian.ts";
import { readOsRelease } from "./hints.ts";
import { withFolderLocked } from "./lock.ts";
import { installVector, lacksVector } from "./pgvector.ts";
import {
  arrangeInstalled,
  installPostgres,
  isArranged,
  postgresPackages,
  type PostgresPackage,
} from "./postgres.ts";
import { DEBIAN_RECIPES } from "./recipes.ts";
import type { EngineReport, InstallReport } from "./report.ts";

export type { EngineReport, InstallReport } from "./report.ts";

interface InstallOptions {
  enginesDir: string;
  /** The checkout, whose `node_modules` holds the packages with Postgres. */
  checkoutDir: string;
  progress: (line: string) => void;
  /** Every engine that Pilvi can install when left out. */
  only?: ForeignEngine[];
}

const INSTALLABLE: ForeignEngine[] = [STORE_ENGINE, ...DEBIAN_RECIPES.map(({ name }) => name)];

/** Disk space for package lists, downloads and all engines together. */
const NEEDED_MIB = 1_000;

const DISK_FAULTS: Record<string, string> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EACCES: "permission is denied",
  EPERM: "it is not permitted",
  EROFS: "the file system is read-only",
  ENOTDIR: "a part of the path is not a folder",
};

/**
 * Installs the engines that are missing or have known holes in every version. The failure of an engine does not stop
 * the others; its report says why.
 * @throws Refusal when the control plane would have no Postgres, or when the folder cannot be written to.
 */
export async function installEngines(options: InstallOptions): Promise<InstallReport> {
  const { enginesDir, progress } = options;
  try {
    const before = await survey(options, true);
    if (before.missing.length === 0) return before.present;
    await prepareFolder(enginesDir);
    return await withFolderLocked(enginesDir, progress, async () => {
      // Another installer may have finished meanwhile.
      const { present, missing } = await survey(options, true);
      await removeUnfinished(enginesDir);
      try {
        return [...present, ...(await installMissing(missing, options))];
      } finally {
        await removeUnfinished(enginesDir);
      }
    });
  } catch (error) {
    const fault = DISK_FAULTS[codeOf(error) ?? ""];
    if (fault === undefined) throw error;
    throw new Refusal(`Engines cannot be installed in ${enginesDir}: ${fault}.`, error);
  }
}

/** The engines that `installEngines` would work on, apart from additions that it tried before without success. */
export async function missingEngines(options: Omit<InstallOptions, "progress">): Promise<ForeignEngine[]> {
  return (await survey(options, false)).missing;
}

async function survey(
  options: Omit<InstallOptions, "progress">,
  again: boolean,
): Promise<{ present: EngineReport[]; missing: ForeignEngine[] }> {
  const engines = await usableEngines(options.enginesDir);
  const wanted = options.only ?? INSTALLABLE;
  const missing = wanted.filter((name) =>
    name === STORE_ENGINE
      ? missingPostgres(engines, options).length > 0 ||
        storedPostgres(engines).length === 0 ||
        !storedPostgres(engines).every(isArranged) ||
        withoutVector(engines, options, again).length > 0
      : !engines.some((engine) => engine.name === name && isComplete(engine) && !verdictOn(engine).isUnsafe),
  );
  const present = wanted.flatMap((name): EngineReport[] => {
    if (name === STORE_ENGINE) {
      return storedPostgres(engines).map(({ version }) => ({ name, state: "present", version }));
    }
    const engine = missing.includes(name) ? undefined : engines.find((one) => one.name === name);
    return engine === undefined ? [] : [{ name, state: "present", version: engine.version }];
  });
  return { present, missing };
}

/** Whether an engine of the store has all files of today's recipe. */
function isComplete({ name, origin, home }: FoundEngine): boolean {
  const { files = [] } = programOf(name).debian ?? {};
  return origin !== "store" || files.every((file) => existsSync(join(home, file)));
}

/** Pgvector comes with a full installation only: a Postgres that was asked for by name is not worth its download. */
function withoutVector(
  engines: FoundEngine[],
  { only }: Pick<InstallOptions, "only">,
  again: boolean,
): FoundEngine[] {
  return only === undefined ? storedPostgres(engines).filter((engine) => lacksVector(engine, again)) : [];
}

/** The control plane's Postgres must come from the store. */
function storedPostgres(engines: FoundEngine[]): FoundEngine[] {
  return engines.filter(({ name, origin }) => name === STORE_ENGINE && origin === "store");
}

/** The packages whose Postgres, in the version that Pilvi was tested with, is not in the store. */
function missingPostgres(
  engines: FoundEngine[],
  { checkoutDir }: Pick<InstallOptions, "checkoutDir">,
): PostgresPackage[] {
  const stored = new Set(storedPostgres(engines).map(({ version }) => version));
  return postgresPackages(checkoutDir).filter(({ version }) => !stored.has(version));
}

async function installMissing(names: ForeignEngine[], options: InstallOptions): Promise<EngineReport[]> {
  const { enginesDir, progress } = options;
  const os = readOsRelease();
  const recipes = DEBIAN_RECIPES.filter(({ name }) => names.includes(name));
  // The two run together: one waits for the disk while the other waits for the network.
  const work: Promise<EngineReport[]>[] = [];
  if (names.includes(STORE_ENGINE)) work.push(installBundledPostgres(options));
  if (recipes.length > 0) work.push(installFromDebian(recipes, { enginesDir, os, progress }));
  // All work must have ended before the folder's lock is released, so a failure waits for the rest.
  const outcomes = await Promise.allSettled(work);
  return outcomes.flatMap((outcome) => {
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  });
}

async function installBundledPostgres(options: InstallOptions): Promise<EngineReport[]> {
  const { enginesDir, checkoutDir, progress } = options;
  if (postgresPackages(checkoutDir).length === 0) {
    throw new Refusal(
      "The npm packages with Postgres are missing; `npm install --include=optional` installs them.",
    );
  }
  const reports: EngineReport[] = [];
  const present = await usableEngines(enginesDir);
  for (const stored of storedPostgres(present).filter((engine) => !isArranged(engine))) {
    await arrangeInstalled(stored);
    progress(`extensions of postgres ${stored.version} arranged`);
  }
  for (const source of missingPostgres(present, options)) {
    try {
      const version = await installPostgres(source, enginesDir);
      progress(`postgres ${version} installed`);
      reports.push({ name: STORE_ENGINE, state: "installed", version });
    } catch (error) {
      if (codeOf(error) !== undefined || error instanceof Refusal) throw error;
      throw new Refusal(`Postgres ${source.version} cannot be installed: ${messageOf(error)}.`, error);
    }
  }
  await addVector(options);
  return reports;
}

/** Clusters work without pgvector where it cannot be installed. */
async function addVector(options: InstallOptions): Promise<void> {
  const { enginesDir, progress } = options;
  const missing = withoutVector(await usableEngines(enginesDir), options, true);
  for (const { engines, error } of await installVector(missing, enginesDir)) {
    const names = engines.map(({ version }) => version).join(", ");
    if (error === undefined) {
      progress(`pgvector added to postgres ${names}`);
      continue;
    }
    if (DISK_FAULTS[codeOf(error) ?? ""] !== undefined || error instanceof Refusal) throw error;
    progress(`pgvector could not be added to postgres ${names}: ${messageOf(error)}`);
  }
}

async function prepareFolder(enginesDir: string): Promise<void> {
  if (!existsSync(enginesDir)) {
    await mkdir(enginesDir, { recursive: true });
    // Engines run under other users, which must get in whatever the umask of this process is.
    await chmod(enginesDir, 0o755);
  }
  // Checked beforehand, because `apt-get update` hangs when it fills the disk.
  const { bavail, bsize } = await statfs(enginesDir);
  const freeMib = Math.floor((bavail * bsize) / 2 ** 20);
  if (freeMib >= NEEDED_MIB) return;
  throw new Refusal(
    `Installing engines in ${enginesDir} needs ${NEEDED_MIB} MiB of disk, and only ${freeMib} are free.`,
  );
}

/** Removes the remains of a killed installer, and our own working files. */
async function removeUnfinished(enginesDir: string): Promise<void> {
  const entries = await readdir(enginesDir);
  for (const entry of entries.filter((name) => name.endsWith(".tmp"))) {
    await rm(join(enginesDir, entry), { recursive: true, force: true });
  }
}
