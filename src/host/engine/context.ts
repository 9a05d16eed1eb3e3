// Chooses the engine program of an instance, and gathers the context for its files and commands.
import { existsSync, readlinkSync, realpathSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import type { EngineName } from "../../contracts/engine-names.ts";
import type { OfferedEngine } from "../../contracts/host-answers.ts";
import { isPilvisOwn, type ApplicationSpec, type InstanceSpec } from "../../contracts/instance-spec.ts";
import type { Limits } from "../../contracts/observation.ts";
import type { ApplicationPlace, Certificate, Engine, EngineContext } from "../../engines/engine.ts";
import { engineNamed, majorOf, runnableEngines, type EngineSources } from "../../engines/index.ts";
import { isAsFound, type InstalledEngine } from "../../engines/installed.ts";
import type { PortRange } from "../../engines/packet-filter/ruleset.ts";
import { readyRuntime, type RuntimeSources } from "../../engines/runtimes/runtimes.ts";
import { verdictOn } from "../../engines/safety/verdict.ts";
import { NO_SANDBOX } from "../../engines/sandbox/sandbox.ts";
import { PublicError } from "../../lib/errors.ts";
import { replaceFile } from "../../lib/files.ts";
import { readUnleased } from "../../lib/leases.ts";
import type { CgroupBackend } from "../os/cgroup-backends.ts";
import { accountOf, canSwitchUsers, KEEPER_ACCOUNT } from "../os/accounts.ts";
import type { HostSandbox } from "./host-sandbox.ts";
import { enginePaths, releaseApp, type InstanceFolder } from "../os/layout.ts";
import type { Manifest } from "../manifest/manifest.ts";
import { canLimitProcesses } from "../os/process-limit.ts";

/** The settings that the host starts with. */
export interface HostSettings extends EngineSources {
  dataDir: string;
  /** The address that public instances listen on; the others listen on loopback. */
  bind: string;
  /** The certificate of public instances that speak TLS. */
  certificate: Certificate | null;
  /** The certificate of the edge, which has one even where the settings name none; left out where there is none. */
  edgeCertificate?: Certificate | null;
  /** The number of data directories of each database engine in the warm pool. */
  warmSlots: number;
  /** How the kernel enforces the limits of instances; null where it cannot. */
  cgroups: CgroupBackend | null;
  /** Whether webhooks may go to addresses that are not public. */
  allowPrivateWebhooks: boolean;
  /** The sandbox of applications and builds; none where it is left out. */
  sandbox?: Pick<HostSandbox, "now" | "ensured">;
  /** The ports of instances; the usual range when left out. */
  portRange?: PortRange;
  /** How long a start waits for engines that run; tests wait longer. */
  adoptionMs?: number;
  /** How many builds run at once; a number for this machine when left out. */
  buildsAtOnce?: number;
  /** How long and how much of the log of each environment is kept; defaults where it is left out. */
  logs?: { days: number; bytes: number };
  /** How often engines delete the log that is in the archive; tests set another interval. */
  releaseIntervalMs?: number;
}

const catalogs = new Map<string, InstalledEngine[]>();

/** The installed engines. The lookup is cached, and repeated when no known engine matches, or the first has changed. */
async function installedEngines(
  sources: EngineSources,
  wanted: (engine: InstalledEngine) => boolean,
): Promise<InstalledEngine[]> {
  if (sources.ownEngines.some(wanted)) return sources.ownEngines;
  const known = catalogs.get(sources.enginesDir);
  const first = known?.find(wanted);
  if (known !== undefined && first !== undefined && isAsFound(first)) return known;
  const found = await runnableEngines(sources);
  catalogs.set(sources.enginesDir, found);
  return found;
}

/** The newest engine of each name and major version. */
export function newestOfEachMajor(engines: InstalledEngine[]): InstalledEngine[] {
  // The newest engine comes first in the list.
  const majors = engines.map(({ name, version }) => `${name} ${majorOf(name, version)}`);
  return engines.filter((_, index) => majors.indexOf(majors[index] ?? "") === index);
}

/** An engine as the control plane sees it. */
export function offered(installed: InstalledEngine): OfferedEngine {
  const { name, version } = installed;
  const engine = engineNamed(name);
  const extensions = engine.extensions?.(installed);
  return {
    name,
    version,
    major: engine.majorOf(version),
    ...(extensions === undefined ? {} : { extensions }),
  };
}

/** The first acceptable engine that is installed. The manifest pins it for the life of the instance. */
export async function chooseEngine(settings: HostSettings, spec: InstanceSpec): Promise<Manifest["engine"]> {
  const version = "version" in spec ? spec.version : null;
  const fitting = (name: EngineName) => (engine: InstalledEngine) =>
    engine.name === name && (version === null || majorOf(name, engine.version) === version);
  const candidates: InstalledEngine[] = [];
  for (const name of spec.engines) {
    const candidate = (await installedEngines(settings, fitting(name))).find(fitting(name));
    if (candidate !== undefined) candidates.push(candidate);
  }
  // An engine with known vulnerabilities is better than no engine, and worse than another that serves the same clients.
  const chosen = candidates.find((engine) => !verdictOn(engine).isUnsafe) ?? candidates[0];
  if (chosen !== undefined) return { name: chosen.name, major: majorOf(chosen.name, chosen.version) };
  const wanted = [spec.engines.join(" or "), version].filter((word) => word !== null).join(" ");
  throw new PublicError(`${wanted} is not installed on this host. Run: pilvi engines install`);
}

/** The full context that the engine of an instance runs with. */
export async function contextOf(
  settings: HostSettings,
  manifest: Manifest,
  engine: Engine,
  folder: InstanceFolder,
): Promise<EngineContext<InstanceSpec>> {
  const through = manifest.servedThrough;
  const spec = { ...manifest.spec, exposure: { ...manifest.spec.exposure, through } };
  return {
    spec,
    installed: await pinnedEngine(settings, manifest.engine),
    paths: enginePaths(folder, engine.socketName(spec)),
    limits: enforced(settings, spec, engine),
    account: accountOf(manifest),
    address: addressOf(settings, spec),
    certificate: certificateOf(settings, spec),
    adminPassword: manifest.adminPassword,
    allowPrivateWebhooks: settings.allowPrivateWebhooks,
    logReader: canSwitchUsers() ? KEEPER_ACCOUNT : null,
    ...(spec.kind === "application" && { application: await applicationPlace(settings, spec) }),
  };
}

/** Whether a start with this context has the program and the certificate of now. */
export function isOfNow(
  settings: HostSettings,
  { spec, installed, certificate }: EngineContext<InstanceSpec>,
): boolean {
  const now = certificateOf(settings, spec);
  return certificate?.cert === now?.cert && certificate?.key === now?.key && isAsFound(installed);
}

function certificateOf(settings: HostSettings, spec: InstanceSpec): Certificate | null {
  if (spec.kind === "edge") return settings.edgeCertificate ?? null;
  const isShown = spec.exposure.scope === "public" && spec.exposure.through === "engine";
  return isShown ? settings.certificate : null;
}

/** @throws PublicError when the release is not on this host, or its runtime cannot be had. */
async function applicationPlace(
  settings: HostSettings,
  { release, runtime }: ApplicationSpec,
): Promise<ApplicationPlace> {
  const { dataDir } = settings;
  const sandbox = (await settings.sandbox?.ensured()) ?? NO_SANDBOX;
  const app = releaseApp(dataDir, release);
  if (!existsSync(app)) throw new PublicError(`The release ${release} is not on this host.`);
  return { app, sandbox, runtime: await readyRuntime(runtime, "run", runtimeSources(settings), sandbox) };
}

/** Where the runtimes of applications and builds come from. @throws PublicError without Pilvi's own Bun. */
export function runtimeSources({ enginesDir, ownEngines }: HostSettings): RuntimeSources {
  const own = ownEngines.find(({ name }) => name === "application");
  if (own === undefined) throw new PublicError("This host runs no applications.");
  return { enginesDir, bun: own.program };
}

/** The address at which clients reach an instance. */
export function addressOf({ bind }: HostSettings, { exposure }: InstanceSpec): string {
  return exposure.scope === "public" ? bind : "127.0.0.1";
}

/**
 * Limits that the kernel enforces on customers' instances, for all processes of an engine together where there are
 * cgroups. The store belongs to Pilvi itself and has no enforced limits.
 */
function enforced({ cgroups }: HostSettings, spec: InstanceSpec, engine: Engine): Limits {
  const limits = engine.limits(spec, totalmem());
  if (isPilvisOwn(spec)) return limits;
  if (cgroups !== null) return { ...limits, enforcedBy: cgroups.version };
  return engine.fitsProcessLimit === true && canLimitProcesses()
    ? { ...limits, enforcedBy: "rlimit" }
    : limits;
}

/** Replaces the files in the configuration folder. */
export function writeConfig(engine: Engine, context: EngineContext<InstanceSpec>): void {
  for (const [name, content] of Object.entries(engine.files(context))) writeFile(context, name, content);
}

/** Whether the configuration folder has the files that a start would write now, apart from files that can be applied. */
export function isConfigWritten(engine: Engine, context: EngineContext<InstanceSpec>): boolean {
  const files = Object.entries(engine.files(context));
  return files.every(([name, content]) => isApplied(engine, name) || isWritten(context, name, content));
}

/** Whether a file is brought to the running engine, so that a change of it needs no restart. */
export function isApplied({ appliedFiles = [] }: Engine, name: string): boolean {
  return appliedFiles.includes(name);
}

export function isWritten({ paths }: EngineContext<InstanceSpec>, name: string, content: string): boolean {
  return readUnleased(join(paths.confDir, name)) === content;
}

export function writeFile(
  { account, paths }: EngineContext<InstanceSpec>,
  name: string,
  content: string,
): void {
  replaceFile(join(paths.confDir, name), content, account === null ? 0o600 : 0o640, account?.gid);
}

async function pinnedEngine(settings: HostSettings, pin: Manifest["engine"]): Promise<InstalledEngine> {
  const fits = (engine: InstalledEngine) =>
    engine.name === pin.name && majorOf(engine.name, engine.version) === pin.major;
  const installed = (await installedEngines(settings, fits)).find(fits);
  if (installed !== undefined) return installed;
  throw new PublicError(`${pin.name} ${pin.major} is not installed on this host. Run: pilvi engines install`);
}

/** The installed engine that a process runs, whichever host started it; null when it cannot be determined. */
export async function engineOfProcess(settings: HostSettings, pid: number): Promise<InstalledEngine | null> {
  const file = programOf(pid);
  if (file === null) return null;
  // An engine with a loader of its own executes that loader, which also lies in the engine's folder.
  const isIt = ({ origin, home, program }: InstalledEngine) =>
    origin === "store" ? file.startsWith(`${resolved(home)}/`) : file === resolved(program);
  return (await installedEngines(settings, isIt)).find(isIt) ?? null;
}

/** The path of the program that a process executes, even when the file has been deleted since. */
function programOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, "");
  } catch {
    // The process has ended, or belongs to a user whose processes the host may not inspect.
    return null;
  }
}

function resolved(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
