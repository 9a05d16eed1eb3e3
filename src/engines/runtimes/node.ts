// Node.js for applications, from the packages of npm that carry its programs, each major version when it is first needed.
import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { messageOf, PublicError } from "../../lib/errors.ts";
import { syncFileSystem } from "../../lib/files.ts";
import { withFolderLocked } from "../install/lock.ts";
import { compareVersions } from "../versions.ts";
import { runtimesDir } from "./folder.ts";
import { installPackages } from "./npm-packages.ts";

/**
 * Supported major versions of Node.js: a version that can be fetched at least, and the version of npm that comes with
 * it. That of npm is exact: what the newest npm bundles may not be published by itself yet, and then it cannot be
 * resolved.
 */
const LINES: Record<string, { atLeast: string; npm: string }> = {
  "20": { atLeast: "20.20.2", npm: "10.9.4" },
  "22": { atLeast: "22.23.3", npm: "10.9.4" },
  "24": { atLeast: "24.21.0", npm: "11.21.0" },
};

/** The version of applications that ask for none. */
export const DEFAULT_NODE = "24";

/** The major versions of Node.js that can be asked for. */
const NODE_VERSIONS = Object.keys(LINES);

const PACKAGE = `node-linux-${process.arch}`;

/** A version for each major version: the fetched version, or a version that a fetch brings at least. */
export function offeredNodes(enginesDir: string): string[] {
  return Object.entries(LINES).map(([major, { atLeast }]) => {
    const home = findNode(major, enginesDir);
    return home === null ? atLeast : basename(home).slice("node-".length);
  });
}

/** The newest fetched Node.js of a major version; null without any. */
export function findNode(major: string, enginesDir: string): string | null {
  const folder = runtimesDir(enginesDir);
  if (!existsSync(folder)) return null;
  const versions = readdirSync(folder)
    .filter((name) => name.startsWith(`node-${major}.`) && !name.endsWith(".tmp"))
    .map((name) => name.slice("node-".length))
    .sort((a, b) => compareVersions(b, a));
  return versions[0] === undefined ? null : join(folder, `node-${versions[0]}`);
}

/**
 * The Node.js of a major version, fetched with the given Bun where it is missing.
 * @throws PublicError when it cannot be had, with the versions that can.
 */
export async function ensureNode(major: string, enginesDir: string, bun: string): Promise<string> {
  if (LINES[major] === undefined)
    throw new PublicError(`Node.js ${major} cannot be had here; ${NODE_VERSIONS.join(", ")} can.`);
  const found = findNode(major, enginesDir);
  if (found !== null) return found;
  const folder = runtimesDir(enginesDir);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  return await withFolderLocked(
    folder,
    () => undefined,
    async () => findNode(major, enginesDir) ?? (await fetchNode(major, folder, bun)),
  );
}

async function fetchNode(major: string, folder: string, bun: string): Promise<string> {
  const project = join(folder, `.node-${major}.tmp`);
  await rm(project, { recursive: true, force: true });
  await mkdir(project);
  try {
    const dependencies = { [PACKAGE]: major, npm: LINES[major]?.npm };
    await installPackages(project, dependencies, bun);
    const home = await arranged(project);
    const { version } = JSON.parse(await readFile(join(home, "package.json"), "utf8"));
    const place = join(folder, `node-${version}`);
    await syncFileSystem(home);
    await rename(home, place);
    return place;
  } catch (error) {
    throw new PublicError(`Node.js ${major} cannot be fetched now: ${messageOf(error)}`, error);
  } finally {
    await rm(project, { recursive: true, force: true });
  }
}

/** Puts npm into the folder of Node.js, as its own distribution has it. */
async function arranged(project: string): Promise<string> {
  const home = join(project, "node_modules", PACKAGE);
  const modules = join(home, "lib", "node_modules");
  await mkdir(modules, { recursive: true });
  await rename(join(project, "node_modules", "npm"), join(modules, "npm"));
  for (const name of ["npm", "npx"]) {
    await rm(join(home, "bin", name), { force: true });
    await symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, join(home, "bin", name));
  }
  const chmod = Bun.spawnSync(["chmod", "-R", "u+rwX,go+rX,go-w,a-s", home]);
  if (!chmod.success) throw new Error("its files cannot be opened to other users");
  const { stdout, success } = Bun.spawnSync([join(home, "bin", "node"), "--version"], { env: {} });
  if (!success || !stdout.toString().startsWith("v")) throw new Error("it does not run on this system");
  return home;
}
