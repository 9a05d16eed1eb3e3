// Chooses the engine program of an instance and gathers all that its files and commands are made of.
import { totalmem } from "node:os";
import { join } from "node:path";
import type { EngineName, InstanceSpec } from "../drivers/driver.ts";
import type { Certificate, Engine, EngineContext } from "../engines/engine.ts";
import { findEngines, type InstalledEngine } from "../engines/installed.ts";
import { PublicError } from "../lib/errors.ts";
import { replaceFile } from "../lib/files.ts";
import { accountOf } from "./accounts.ts";
import { enginePaths, type InstanceFolder } from "./layout.ts";
import type { Manifest } from "./manifest.ts";

/** What the host was told at its start. */
export interface HostSettings {
  dataDir: string;
  enginesDir: string;
  /** The address that public instances listen on; the others listen on loopback. */
  bind: string;
  /** What public instances show when they speak TLS. */
  certificate: Certificate | null;
}

const catalogs = new Map<string, InstalledEngine[]>();

/** The installed engines, looked up once; a later one is seen when what is asked for was not there before. */
export async function installedEngines(
  enginesDir: string,
  wanted: (engine: InstalledEngine) => boolean,
): Promise<InstalledEngine[]> {
  const known = catalogs.get(enginesDir);
  if (known?.some(wanted)) return known;
  const found = await findEngines(enginesDir);
  catalogs.set(enginesDir, found);
  return found;
}

/** The part of a version within which data files stay readable. */
export function majorOf(name: EngineName, version: string): string {
  return version.split(".", name === "mariadb" || name === "mysql" ? 2 : 1).join(".");
}

/** The first of the acceptable engines that is installed, to be kept for the instance's life. */
export async function chooseEngine(settings: HostSettings, spec: InstanceSpec): Promise<Manifest["engine"]> {
  for (const name of spec.engines) {
    const engines = await installedEngines(settings.enginesDir, (engine) => engine.name === name);
    const installed = engines.find((engine) => engine.name === name);
    if (installed !== undefined) return { name, major: majorOf(name, installed.version) };
  }
  throw new PublicError(
    `${spec.engines.join(" or ")} is not installed on this host. Run: pilvi engines install`,
  );
}

/** Everything the engine of this instance is run with. */
export async function contextOf(
  settings: HostSettings,
  manifest: Manifest,
  engine: Engine,
  folder: InstanceFolder,
): Promise<EngineContext<InstanceSpec>> {
  const { spec } = manifest;
  const isPublic = spec.exposure.scope === "public";
  return {
    spec,
    installed: await pinnedEngine(settings, manifest.engine),
    paths: enginePaths(folder, engine.socketName),
    limits: engine.limits(spec, totalmem()),
    account: accountOf(spec),
    address: isPublic ? settings.bind : "127.0.0.1",
    certificate: isPublic ? settings.certificate : null,
    adminPassword: manifest.adminPassword,
  };
}

/** Replaces the files of the configuration folder. */
export function writeConfig(engine: Engine, context: EngineContext<InstanceSpec>): void {
  const { account, paths } = context;
  for (const [name, content] of Object.entries(engine.files(context))) {
    replaceFile(join(paths.confDir, name), content, account === null ? 0o600 : 0o640, account?.gid);
  }
}

async function pinnedEngine(settings: HostSettings, pin: Manifest["engine"]): Promise<InstalledEngine> {
  const fits = (engine: InstalledEngine) =>
    engine.name === pin.name && majorOf(engine.name, engine.version) === pin.major;
  const installed = (await installedEngines(settings.enginesDir, fits)).find(fits);
  if (installed !== undefined) return installed;
  throw new PublicError(`${pin.name} ${pin.major} is not installed on this host. Run: pilvi engines install`);
}
