// Fetches signed packages of the distribution and unpacks them into a folder, so that the system stays unchanged.
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Apt } from "../../../src/engines/install/apt.ts";
import { distributionSources, readSystemSources } from "../../../src/engines/install/apt-sources.ts";
import { readOsRelease } from "../../../src/engines/install/hints.ts";
import { mustRun } from "../../../src/engines/install/run.ts";

/**
 * The folder then holds the packages and those of their dependencies that the system lacks, or does not exist at all.
 * @param finish completes the folder while it has a temporary name.
 */
export async function unpackPackages(
  packages: string[],
  home: string,
  finish: (folder: string) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const os = readOsRelease();
  const work = await mkdtemp(join(tmpdir(), "pilvi-programs-"));
  // Runs by hand may fetch the same packages at the same time.
  const unfinished = `${home}.${process.pid}`;
  try {
    const release = os.UBUNTU_CODENAME ?? os.VERSION_CODENAME ?? "";
    const apt = await Apt.create(join(work, "apt"), distributionSources(await readSystemSources(), release));
    await apt.update();
    const wanted = await apt.resolve(packages);
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
