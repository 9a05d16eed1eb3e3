// Which package manager installs the dependencies of a JavaScript application: its lock file decides.
import type { PlannedCommands } from "../../contracts/plan.ts";
import { shellWord } from "../../lib/shell-word.ts";
import type { Folder } from "../folder.ts";
import { CLASSIC_YARN, isClassicYarn, pnpmVersion, yarnVersion } from "./manager-versions.ts";
import { PackageJson } from "./package-json.ts";

type ManagerName = "npm" | "pnpm" | "yarn" | "bun";

/** Lock files, the surest first. */
const LOCK_FILES: [file: string, name: ManagerName][] = [
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["package-lock.json", "npm"],
  ["npm-shrinkwrap.json", "npm"],
];

const NPM_OPTIONS = "--no-audit --no-fund";

/** Where a release has a package manager that no machine has. Tools for sources pass over a folder with a dot. */
const TOOLS = ".pilvi/tools";

/** The package manager of a folder. */
export interface PackageManager {
  name: ManagerName;
  /** Brings it into the release, for an install of the customer's in the application's folder; none for npm and Bun. */
  setup: string[];
  /** Its folder of programs, relative to the top of the source; none for npm and Bun. */
  paths: string[];
  /** Begins with the set-up. */
  install: PlannedCommands;
  /** Runs a script of package.json. */
  run(script: string): string;
  /** Paths of other lock files beside the deciding lock file. */
  ignored: string[];
}

/**
 * @param folders the application's folder, and, for a folder in a monorepo, the top, whose lock file may stand for all
 *   its packages, and whose package.json names the manager where that of the folder names none.
 */
export function packageManagerOf(folders: readonly Folder[], packageJson: PackageJson): PackageManager {
  const home = folders.find((folder) => lockFilesOf(folder).length > 0);
  const locks = home === undefined ? [] : lockFilesOf(home);
  const [lock] = locks;
  const text = packageJson.packageManager ?? PackageJson.ofTop(folders)?.packageManager ?? "";
  const wanted = /^(npm|pnpm|yarn|bun)@(\d[\w.-]{0,40})/.exec(text);
  const name = lock?.[1] ?? (wanted?.[1] as ManagerName | undefined) ?? managerOfScripts(packageJson);
  const version = wanted?.[1] === name ? wanted[2] : undefined;
  const packageName = packageOf(name, version, home);
  const needsInstall =
    lock !== undefined ||
    packageJson.hasDependencies ||
    packageJson.hasInstallScripts ||
    packageJson.hasWorkspaces;
  const path = folders[0]?.path ?? "";
  const directory = home?.path ?? path;
  const install = needsInstall ? [installOf(name, lock !== undefined, version, home)] : [];
  return {
    name,
    setup: setupOf(packageName, TOOLS),
    paths: packageName === undefined ? [] : [`${below(path, TOOLS)}/node_modules/.bin`],
    install: {
      commands: [...setupOf(packageName, directory === path ? TOOLS : below(path, TOOLS)), ...install],
      directory,
      origin: lock?.[0] ?? (wanted === null ? "package.json" : "package.json: packageManager"),
    },
    run: (script) => `${name === "bun" ? "bun --bun" : name} run ${script}`,
    ignored: locks.filter(([, other]) => other !== name).map(([file]) => file),
  };
}

/** Before the first install there is no lock file, and the script that starts the application may still name Bun. */
function managerOfScripts(packageJson: PackageJson): ManagerName {
  const script = packageJson.script("start") ?? packageJson.script("dev") ?? "";
  return /^bun\s/.test(script) ? "bun" : "npm";
}

function lockFilesOf(folder: Folder): typeof LOCK_FILES {
  return LOCK_FILES.filter(([file]) => folder.has(file));
}

function below(folder: string, path: string): string {
  return folder === "" ? path : `${folder}/${path}`;
}

/** The package of a manager that no machine has. */
function packageOf(
  name: ManagerName,
  version: string | undefined,
  home: Folder | undefined,
): string | undefined {
  if (name === "pnpm") return `pnpm@${version ?? pnpmVersion(home)}`;
  if (name !== "yarn") return undefined;
  // It runs the Yarn that a repository brings by `yarnPath`.
  return isClassicYarn(version, home)
    ? `yarn@${version ?? CLASSIC_YARN}`
    : `@yarnpkg/cli-dist@${version ?? yarnVersion(home)}`;
}

/** The folder is in the release, so that no start has to fetch the manager anew. */
function setupOf(packageName: string | undefined, folder: string): string[] {
  if (packageName === undefined) return [];
  const place = /^[\w./-]+$/.test(folder) ? folder : shellWord(folder);
  return [`npm install ${NPM_OPTIONS} --prefix=${place} ${packageName}`];
}

function installOf(
  name: ManagerName,
  isLocked: boolean,
  version: string | undefined,
  home: Folder | undefined,
): string {
  if (name === "npm") return `npm ${isLocked ? "ci" : "install"} ${NPM_OPTIONS}`;
  const frozen = name === "yarn" && !isClassicYarn(version, home) ? "--immutable" : "--frozen-lockfile";
  return `${name} install${isLocked ? ` ${frozen}` : ""}`;
}
