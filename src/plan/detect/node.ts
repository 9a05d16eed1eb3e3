// JavaScript applications on Node.js or Bun.
import type { AvailableRuntimes, PlannedRuntime, PlannedServing } from "../../contracts/plan.ts";
import { checkCommand, installThemselves, needsNode } from "../commands.ts";
import { detected, OWN_INSTALL, type Detection, type Sourced } from "../draft.ts";
import { PlanRefusal, quoted } from "../faults.ts";
import type { Folder } from "../folder.ts";
import { fileVersion } from "../tool-versions.ts";
import { resolveVersion, type VersionRequest } from "../versions.ts";
import { frameworkOf, isDevelopment, type FrameworkServing } from "./node-frameworks.ts";
import { PackageJson } from "./package-json.ts";
import { packageManagerOf, type PackageManager } from "./package-manager.ts";
import { startScriptOf, withStartBuilds, type StartScript } from "./start-script.ts";

/** What every detection gets. */
export interface DetectionInput {
  /** The application's folder, then the top of the source where that is another folder. */
  folders: [Folder, ...Folder[]];
  available: AvailableRuntimes;
  /** The version that the environment or railpack.json asks for. */
  versionOf(name: keyof AvailableRuntimes): VersionRequest | null;
  /** The environment's own commands for the build. */
  buildCommands: readonly string[];
  /** All commands that other origins name. */
  commands: readonly string[];
  /** Whether another origin says how the application starts or is served, so that detection need not. */
  hasStart: boolean;
  /** Whether the environment has files served. */
  isStatic: boolean;
}

/** Programs without a start script, as people name them; compiled files come before sources. */
const MAIN_FILES = /^(?:dist\/|build\/|src\/)?(?:server|index|app|main)\.(?:m?js|cjs)$/;
const BUN_MAIN_FILES = /^(?:src\/)?(?:server|index|app|main)\.(?:m?[jt]s|tsx)$/;

/** Such scripts need what npm sets for scripts. */
const NEEDS_NPM = /npm_|\bnpm\b|\bpnpm\b|\byarn\b/;

/** Such scripts are left to the package manager that they name. */
const NEEDS_OWN_MANAGER = /\bpnpm\b|\byarn\b/;

/** @param runtime demanded by an origin; null leaves it to the lock file. */
export function detectNode(
  input: DetectionInput,
  packageJson: PackageJson,
  runtime: "node" | "bun" | null,
): Detection {
  const [folder] = input.folders;
  const manager = packageManagerOf(input.folders, packageJson);
  const isBun = (runtime ?? (usesBun(folder, packageJson, manager) ? "bun" : "node")) === "bun";
  const name = isBun ? "bun" : "node";
  const framework = frameworkOf(packageJson);
  const label = framework?.label ?? null;
  const found = framework?.serving(packageJson, folder) ?? {};
  const script = chosenScript(packageJson, found, label);
  const ownBuild = buildOf(packageJson, manager, folder, label, framework?.build);
  const build = withStartBuilds(ownBuild, script, packageJson, folder);
  const start =
    script === undefined
      ? startWithoutScript(packageJson, folder, isBun, found, label)
      : {
          value: scriptCommand(packageJson, manager, script, isBun),
          origin: `package.json: scripts.${script.name}`,
        };
  const serving = servingOf(found, start, label);
  if (start === undefined && serving === undefined && !input.hasStart)
    throw refusalOf(found, label, build !== undefined);
  return {
    runtime: resolveVersion(
      name,
      input.versionOf(name) ?? versionRequest(name, input, packageJson),
      input.available,
    ),
    language: folder.has("tsconfig.json") ? "TypeScript" : "JavaScript",
    framework: label,
    paths: [...manager.paths, ...input.folders.map((each) => each.pathOf("node_modules/.bin"))],
    setup: manager.setup,
    tools: isBun ? nodeForNpm(input, packageJson, manager) : [],
    install: installThemselves(input.buildCommands, "JavaScript")
      ? { commands: manager.setup, directory: folder.path, origin: OWN_INSTALL }
      : manager.install,
    ...(build !== undefined && { build }),
    ...(start !== undefined && { start }),
    ...(serving !== undefined && { serving }),
    notes: [...notesOf(packageJson, manager, found), ...notesOfBuilds(script)],
  };
}

function usesBun(folder: Folder, packageJson: PackageJson, manager: PackageManager): boolean {
  return manager.name === "bun" || folder.has("bunfig.toml") || packageJson.versionOf("bun") !== undefined;
}

/** Package managers other than Bun's are programs for Node.js. */
function nodeForNpm(
  input: DetectionInput,
  packageJson: PackageJson,
  manager: PackageManager,
): PlannedRuntime[] {
  const scripts = ["build", "start"].flatMap((name) => packageJson.script(name) ?? []);
  const commands = [...manager.install.commands, ...input.commands, ...scripts];
  if (!commands.some((command) => needsNode(command, "bun"))) return [];
  return [resolveVersion("node", input.versionOf("node"), input.available)];
}

/** The version that the repository asks for. */
export function versionRequest(
  name: "node" | "bun",
  { folders }: Pick<DetectionInput, "folders">,
  packageJson: PackageJson,
): VersionRequest | null {
  // A version manager's file names the version that the developers have; engines often allow many.
  const file = fileVersion(name, folders);
  if (file !== null) return file;
  const found = packageJson.versionOf(name) ?? PackageJson.ofTop(folders)?.versionOf(name);
  return found === undefined ? null : { range: found.range, origin: `package.json: ${found.member}` };
}

/** The script `build`, else the framework's own build. */
export function buildOf(
  packageJson: PackageJson,
  manager: PackageManager,
  { path }: Folder,
  label: string | null,
  frameworkBuild?: string,
): Detection["build"] {
  if (packageJson.script("build") !== undefined) {
    return { commands: [manager.run("build")], directory: path, origin: "package.json: scripts.build" };
  }
  if (frameworkBuild === undefined || label === null) return undefined;
  return { commands: [frameworkBuild], directory: path, origin: detected(label) };
}

/** The script that starts the application in production. */
function chosenScript(
  packageJson: PackageJson,
  found: FrameworkServing,
  label: string | null,
): StartScript | undefined {
  // Such a script of a framework for files serves them for a look, and a server of Pilvi's does it better.
  const names = label === "NestJS" ? ["start:prod", "start"] : ["start"];
  return names
    .flatMap((name) => startScriptOf(packageJson, name) ?? [])
    .find(({ script }) => !isDevelopment(script) && !isUnusable(found, script));
}

function startWithoutScript(
  packageJson: PackageJson,
  folder: Folder,
  isBun: boolean,
  found: FrameworkServing,
  label: string | null,
): Sourced<string> | undefined {
  if (found.start !== undefined && label !== null) return { value: found.start, origin: detected(label) };
  if (found.root !== undefined || found.refusal !== undefined) return undefined;
  return mainOf(packageJson, folder, isBun);
}

/** Whether a script starts a server that has nothing to serve in such a build. */
function isUnusable({ unusableStart }: FrameworkServing, script: string): boolean {
  return unusableStart?.test(script.trim()) === true;
}

/** The script itself where that does the same, since starting npm takes longer than starting most applications. */
function scriptCommand(
  packageJson: PackageJson,
  manager: PackageManager,
  { name, script, builds, before }: StartScript,
  isBun: boolean,
): string {
  const around = [before, packageJson.script(`post${name}`)].filter((each) => each !== undefined);
  // The manager would run the builds.
  const canBeManaged = builds.length === 0;
  if (canBeManaged && (around.length > 0 || NEEDS_NPM.test(script))) {
    // Npm runs such scripts as well as any other, and starts sooner than most.
    const isForNpm = !isBun && ![script, ...around].some((each) => NEEDS_OWN_MANAGER.test(each));
    return isForNpm ? `npm run ${name}` : manager.run(name);
  }
  const command = before === undefined ? script : `${before} && ${script}`;
  checkCommand(command, `package.json: scripts.${name}`);
  if (!isBun || script.startsWith("bun ")) return command;
  return canBeManaged ? `bun --bun run ${name}` : command.replace(/^node /, "bun ");
}

function mainOf(packageJson: PackageJson, folder: Folder, isBun: boolean): Sourced<string> | undefined {
  const program = isBun ? "bun" : "node";
  const main = packageJson.main?.replace(/^\.\//, "");
  if (main !== undefined && /^[\w@./-]{1,200}$/.test(main) && folder.has(main)) {
    return { value: `${program} ${main}`, origin: "package.json: main" };
  }
  const [file] = folder.matching(isBun ? BUN_MAIN_FILES : MAIN_FILES);
  return file === undefined ? undefined : { value: `${program} ${file}`, origin: detected(file) };
}

function servingOf(
  found: FrameworkServing,
  start: Sourced<string> | undefined,
  label: string | null,
): PlannedServing | undefined {
  if (start !== undefined) return { mode: "process", root: null, fallback: false, origin: start.origin };
  if (found.root === undefined || label === null) return undefined;
  return { mode: "static", root: found.root, fallback: found.fallback ?? false, origin: detected(label) };
}

function refusalOf({ refusal }: FrameworkServing, label: string | null, makesFiles: boolean): PlanRefusal {
  const site = makesFiles
    ? " For a site of files, set serving_root to the folder that its build makes, such as dist."
    : "";
  const what = label === null ? "package.json" : `This ${label} application`;
  return new PlanRefusal(
    refusal ??
      `${what} does not say how it starts; add a script \`start\` to package.json, a line \`web: …\` to a Procfile, or set start_command.${site}`,
  );
}

function notesOf(
  packageJson: PackageJson,
  { ignored, install }: PackageManager,
  found: FrameworkServing,
): string[] {
  const start = packageJson.script("start");
  return [
    ...(ignored.length > 0
      ? [`There is more than one lock file; ${install.origin} decides, ${ignored.join(", ")} is not used.`]
      : []),
    ...(start !== undefined && isDevelopment(start)
      ? [`The script \`start\` (${quoted(start)}) is a server for development, so it is not used.`]
      : []),
    ...(start !== undefined && isUnusable(found, start)
      ? [
          `The script \`start\` (${quoted(start)}) is no server for the files of the build, so it is not used.`,
        ]
      : []),
  ];
}

function notesOfBuilds(script: StartScript | undefined): string[] {
  if (script === undefined || script.builds.length === 0) return [];
  const builds = script.builds.map(quoted).join(" and ");
  return [
    `The script \`${script.name}\` builds first (${builds}); here the build does that, since processes cannot write to a release.`,
  ];
}
