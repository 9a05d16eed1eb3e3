// Checks the engines: which are installed, which are missing, which are older than they could be.
import type { Config } from "../../config.ts";
import type { ForeignEngine } from "../../contracts/engine-names.ts";
import { installHint, readOsRelease } from "../../engines/install/hints.ts";
import { DEBIAN_RECIPES } from "../../engines/install/recipes.ts";
import { postgresPackages } from "../../engines/install/postgres.ts";
import { findEngines, isGoodEnough, type FoundEngine } from "../../engines/installed.ts";
import { compareVersions } from "../../engines/versions.ts";
import { offeredRuntimes } from "../../engines/runtimes/offer.ts";
import { findPacketFilter, networkSentence } from "../../engines/packet-filter/packet-filter.ts";
import { isolationSentence } from "../../engines/sandbox/probe.ts";
import { verdictOn } from "../../engines/safety/verdict.ts";
import { RUNTIME_LABELS } from "../../plan/versions.ts";
import { HostSandbox } from "../../host/engine/host-sandbox.ts";
import { majorOf, STORE_ENGINE } from "../../engines/registry.ts";
import { closedToEngines } from "../bootstrap/closed-folder.ts";
import { fail, type Finding, ok, unreachable, warn } from "./finding.ts";

const INSTALL = "`pilvi engines install`";

/** @returns a finding for each installed engine, and for each kind of engine that is missing. */
export async function checkEngines(config: Config, checkoutDir: string): Promise<Finding[]> {
  const engines = await findEngines(config.enginesDir);
  const bundled = postgresPackages(checkoutDir).map(({ version }) => version);
  return [
    ...engines.map((engine) => engineFinding(engine, engines, bundled)),
    ...storeFindings(config, engines),
    ...missingFindings(engines),
    ...placeFindings(config),
    sandboxFinding(config),
    await runtimesFinding(config),
    await networkFinding(config),
  ];
}

/** Whether applications and builds are kept apart from the machine, found out by trying. */
function sandboxFinding({ enginesDir }: Config): Finding {
  const sandbox = new HostSandbox(enginesDir, null).now;
  const text = isolationSentence(sandbox, enginesDir);
  if (sandbox.level === "bubblewrap") return ok(text);
  return warn(text, `Install bubblewrap with ${INSTALL}, and allow user namespaces for ordinary users.`);
}

/** The runtimes that applications can have; those that are not here yet are fetched when they are first needed. */
async function runtimesFinding({ enginesDir }: Config): Promise<Finding> {
  const offered = await offeredRuntimes(enginesDir, new HostSandbox(enginesDir, null).now);
  const names = Object.entries(RUNTIME_LABELS) as [keyof typeof RUNTIME_LABELS, string][];
  const texts = names.flatMap(([name, label]) => offered[name].map((version) => `${label} ${version}`));
  return ok(`applications can run on ${texts.join(", ")}, static files, and programs of this system`);
}

/** Whether customers' processes are kept from ports of this machine, found out by trying. */
async function networkFinding({ enginesDir }: Config): Promise<Finding> {
  const isHeld = (await findPacketFilter(enginesDir)) !== null;
  const text = networkSentence(isHeld, enginesDir);
  if (isHeld) return ok(text);
  const isRoot = process.getuid?.() === 0;
  return warn(text, isRoot ? `Install nft with ${INSTALL}.` : "Run Pilvi as root.");
}

/** Engines run under users of their own, who must be able to reach the programs. */
function placeFindings({ enginesDir }: Config): Finding[] {
  const closed = closedToEngines(enginesDir);
  return closed === undefined
    ? []
    : [unreachable(`engines folder ${enginesDir}`, closed, "PILVI_ENGINES_DIR")];
}

function engineFinding(engine: FoundEngine, all: FoundEngine[], bundledPostgres: string[]): Finding {
  const { name, version, origin, program } = engine;
  const text = `${name} ${version} (${origin}, ${program})`;
  if (!isGoodEnough(engine))
    return warn(`${text} is too old to be used`, `Install a newer one with ${INSTALL}.`);
  const { warning } = verdictOn(engine);
  if (warning !== null) return warn(`${text}: ${warning.replace(/\.$/, "")}`, adviceOn(engine, all));
  // Only the first engine of a name is taken for new instances; the others are kept for the instances that were made
  // with them.
  if (all.find((one) => one.name === name) !== engine) return ok(text);
  const newer = all.find((one) => one.name === name && compareVersions(one.version, version) > 0);
  if (newer !== undefined) {
    return warn(
      `${text} is preferred to the system's newer ${newer.version}`,
      `Remove ${engine.home} when no instance uses it any more.`,
    );
  }
  const major = version.split(".")[0];
  const bundled = bundledPostgres.find((one) => name === STORE_ENGINE && one.split(".")[0] === major);
  const isOutdated = bundled !== undefined && compareVersions(version, bundled) < 0;
  return isOutdated ? warn(`${text} is older than ${bundled}`, `Install it with ${INSTALL}.`) : ok(text);
}

/** The remedy for an engine that lacks security fixes. */
function adviceOn(engine: FoundEngine, all: FoundEngine[]): string {
  const { name, version, origin, home } = engine;
  if (origin === "system") return `Update it with the system's packages, or install another with ${INSTALL}.`;
  const next = all.find((one) => one.name === name && majorOf(name, one.version) === majorOf(name, version));
  if (next !== undefined && next !== engine) {
    return `${next.version} takes its place at each instance's next start. Remove ${home} when no instance uses it any more.`;
  }
  return name === STORE_ENGINE
    ? "Update Pilvi, whose packages carry it, as soon as they have a newer one."
    : `Install a newer one with ${INSTALL}.`;
}

/** The control plane runs on the Postgres of the store unless the settings name another Postgres. */
function storeFindings(config: Config, engines: FoundEngine[]): Finding[] {
  const hasOwn = engines.some(({ name, origin }) => name === STORE_ENGINE && origin === "store");
  if (config.databaseUrl !== undefined || hasOwn) return [];
  return [fail("no Postgres for Pilvi's own data", `Install it with ${INSTALL}, or set PILVI_DATABASE_URL.`)];
}

/** `storeFindings` covers the engine of the store; an engine without a recipe does not count as missing. */
function missingFindings(engines: FoundEngine[]): Finding[] {
  const isThere = (name: ForeignEngine) => engines.some((one) => one.name === name && isGoodEnough(one));
  const os = readOsRelease();
  const missing = DEBIAN_RECIPES.map(({ name }) => name).filter((name) => !isThere(name));
  return missing.map((name) => {
    const hint = installHint(name, os);
    return warn(`no ${name}`, `Install it with ${INSTALL}${hint === undefined ? "" : `, or \`${hint}\``}.`);
  });
}
