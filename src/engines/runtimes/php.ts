// PHP for applications: the version of the machine's distribution, from its signed packages, in a folder of its own.
import { existsSync, readdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { messageOf, PublicError } from "../../lib/errors.ts";
import { withFolderLocked } from "../install/lock.ts";
import { readOsRelease } from "../install/hints.ts";
import { compareVersions } from "../versions.ts";
import { runtimesDir } from "./folder.ts";
import { unpackPhp } from "./php-packages.ts";

/** The PHP of each release of a distribution: a version that its packages have at least. */
const DISTRIBUTIONS: Record<string, string> = {
  bookworm: "8.2.29",
  trixie: "8.4.11",
  jammy: "8.1.2",
  noble: "8.3.6",
};

/** A version: the fetched version, or a version that a fetch brings at least; none where there are no packages. */
export function offeredPhps(enginesDir: string): string[] {
  const found = findPhp(enginesDir);
  if (found !== null) return [basename(found).slice("php-".length)];
  const version = versionOfSystem();
  return version === undefined || Bun.which("apt-get") === null ? [] : [version];
}

/** The newest fetched PHP; null without any. @param minor such as `8.2`; any when left out. */
export function findPhp(enginesDir: string, minor = ""): string | null {
  const folder = runtimesDir(enginesDir);
  if (!existsSync(folder)) return null;
  const [version] = readdirSync(folder)
    .filter((name) => /^php-\d+\.\d+\.\d+$/.test(name))
    .map((name) => name.slice("php-".length))
    .filter((each) => minor === "" || each.startsWith(`${minor}.`))
    .sort((a, b) => compareVersions(b, a));
  return version === undefined ? null : join(folder, `php-${version}`);
}

/**
 * The PHP of a minor version, fetched where it is missing.
 * @throws PublicError when it cannot be had, with the version that can.
 */
export async function ensurePhp(minor: string, enginesDir: string): Promise<string> {
  const found = findPhp(enginesDir, minor);
  if (found !== null) return found;
  const offered = versionOfSystem();
  if (offered === undefined || !offered.startsWith(`${minor}.`)) {
    const can = offered === undefined ? "this system has no packages of PHP" : `${minorOf(offered)} can`;
    throw new PublicError(`PHP ${minor} cannot be had here; ${can}.`);
  }
  const folder = runtimesDir(enginesDir);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  return await withFolderLocked(
    folder,
    () => undefined,
    async () => findPhp(enginesDir, minor) ?? (await fetchPhp(minor, folder)),
  );
}

/** The minor version that this system's packages have; null without any. */
export function phpOfSystem(): string | null {
  const version = versionOfSystem();
  return version === undefined ? null : minorOf(version);
}

/** The minor version of an exact version. */
export function minorOf(version: string): string {
  return version.split(".", 2).join(".");
}

async function fetchPhp(minor: string, folder: string): Promise<string> {
  try {
    return await unpackPhp(minor, folder);
  } catch (error) {
    throw new PublicError(`PHP ${minor} cannot be fetched now: ${messageOf(error)}`, error);
  }
}

function versionOfSystem(): string | undefined {
  const os = readOsRelease();
  return DISTRIBUTIONS[os.UBUNTU_CODENAME ?? os.VERSION_CODENAME ?? ""];
}
