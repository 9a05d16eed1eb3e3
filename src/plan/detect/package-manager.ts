// Which package manager installs the dependencies of a JavaScript application: its lock file decides.
import type { PlannedCommands } from "../../contracts/plan.ts";
import type { Folder } from "../folder.ts";
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

/** Versions that are run when the repository names none. */
const VERSIONS = { pnpm: "10", classicYarn: "1.22.22", yarn: "4" } as const;

const NPM_OPTIONS = "--no-audit --no-fund";

/** The package manager of a folder. */
export interface PackageManager {
  name: ManagerName;
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
  const name = lock?.[1] ?? (wanted?.[1] as ManagerName | undefined) ?? "npm";
  const version = wanted?.[1] === name ? wanted[2] : undefined;
  const program = programOf(name, version, home);
  const needsInstall =
    lock !== undefined ||
    packageJson.hasDependencies ||
    packageJson.hasInstallScripts ||
    packageJson.hasWorkspaces;
  return {
    name,
    install: {
      commands: needsInstall ? [installOf(program, name, lock !== undefined, version, home)] : [],
      directory: home?.path ?? folders[0]?.path ?? "",
      origin: lock?.[0] ?? (wanted === null ? "package.json" : "package.json: packageManager"),
    },
    run: (script) => `${name === "bun" ? "bun --bun" : program} run ${script}`,
    ignored: locks.filter(([, other]) => other !== name).map(([file]) => file),
  };
}

function lockFilesOf(folder: Folder): typeof LOCK_FILES {
  return LOCK_FILES.filter(([file]) => folder.has(file));
}

/** Npm brings the package managers that no machine has. */
function programOf(name: ManagerName, version: string | undefined, home: Folder | undefined): string {
  if (name === "pnpm") return `npx --yes pnpm@${version ?? VERSIONS.pnpm}`;
  if (name !== "yarn") return name;
  return isClassicYarn(version, home)
    ? `npx --yes yarn@${version ?? VERSIONS.classicYarn}`
    : `npx --yes --package=@yarnpkg/cli-dist@${version ?? VERSIONS.yarn} yarn`;
}

function isClassicYarn(version: string | undefined, home: Folder | undefined): boolean {
  if (version !== undefined) return version.startsWith("1.");
  return (
    home === undefined || (!home.has(".yarnrc.yml") && !/^__metadata:/m.test(home.text("yarn.lock") ?? ""))
  );
}

function installOf(
  program: string,
  name: ManagerName,
  isLocked: boolean,
  version: string | undefined,
  home: Folder | undefined,
): string {
  if (name === "npm") return `npm ${isLocked ? "ci" : "install"} ${NPM_OPTIONS}`;
  const frozen = name === "yarn" && !isClassicYarn(version, home) ? "--immutable" : "--frozen-lockfile";
  return `${program} install${isLocked ? ` ${frozen}` : ""}`;
}
