// Fetches signed packages of the distribution and unpacks them into a folder, so that the system stays unchanged.
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Apt, type DebianPackage } from "../../../src/engines/install/apt.ts";
import { distributionSources, readSystemSources } from "../../../src/engines/install/apt-sources.ts";
import { readOsRelease } from "../../../src/engines/install/hints.ts";
import { mustRun } from "../../../src/engines/install/run.ts";

/**
 * The folder then holds the packages and those of their dependencies that the system lacks, or does not exist at all.
 * @param finish completes the folder while it has a temporary name.
 * @param isWanted selects packages to unpack. It is asked for each package and for each dependency, including the
 *   dependencies that the system already has.
 */
export async function unpackPackages(
  packages: string[],
  home: string,
  finish: (folder: string) => Promise<void> = () => Promise.resolve(),
  isWanted?: (each: DebianPackage) => boolean,
): Promise<void> {
  const os = readOsRelease();
  const work = await mkdtemp(join(tmpdir(), "pilvi-programs-"));
  // Runs by hand may fetch the same packages at the same time.
  const unfinished = `${home}.${process.pid}`;
  try {
    const release = os.UBUNTU_CODENAME ?? os.VERSION_CODENAME ?? "";
    const sources = distributionSources(await readSystemSources(), release);
    const apt = await Apt.create(join(work, "apt"), sources, { isBare: isWanted !== undefined });
    await apt.update();
    const resolved = await apt.resolve(packages);
    const wanted = isWanted === undefined ? resolved : resolved.filter(isWanted);
    await apt.download(wanted);
    await mkdir(unfinished, { recursive: true });
    for (const each of wanted)
      await mustRun(["dpkg-deb", "--extract", apt.archiveOf(each), unfinished], work);
    await finish(unfinished);
    await rm(home, { recursive: true, force: true });
    await rename(unfinished, home);
  } finally {
    for (const folder of [work, unfinished]) await rm(folder, { recursive: true, force: true });
  }
}
