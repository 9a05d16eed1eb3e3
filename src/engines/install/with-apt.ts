// A private apt with fresh lists of the distribution's packages, for as long as a task lasts.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Apt, type AptOptions } from "./apt.ts";
import { distributionSources, readSystemSources } from "./apt-sources.ts";
import { readOsRelease } from "./hints.ts";

/**
 * Runs a task with an apt that lives in a folder, where the caller holds a lock.
 * @throws Error on a system without apt, and what the task throws.
 */
export async function withApt<T>(
  folder: string,
  options: AptOptions,
  task: (apt: Apt) => Promise<T>,
): Promise<T> {
  const os = readOsRelease();
  const release = os.UBUNTU_CODENAME ?? os.VERSION_CODENAME ?? "";
  const sources = distributionSources(await readSystemSources(), release);
  if (Bun.which("apt-get") === null || Bun.which("dpkg-deb") === null || sources.length === 0)
    throw new Error("This system does not install its programs with apt.");
  const workDir = join(folder, ".apt.tmp");
  await rm(workDir, { recursive: true, force: true });
  try {
    const apt = await Apt.create(workDir, sources, options);
    await apt.update();
    return await task(apt);
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}
