// Fetches packages of npm that carry the programs of runtimes.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A registry that hangs must not hold up a build for ever. */
const FETCH_TIMEOUT_MS = 5 * 60_000;

/** Installs packages into an empty folder, with the given Bun. @throws Error when they cannot be had. */
export async function installPackages(
  project: string,
  dependencies: Record<string, string | undefined>,
  bun: string,
): Promise<void> {
  await writeFile(join(project, "package.json"), JSON.stringify({ private: true, dependencies }));
  const child = Bun.spawn([bun, "install", "--ignore-scripts", "--no-save", "--backend=copyfile"], {
    cwd: project,
    env: { ...process.env, BUN_INSTALL_CACHE_DIR: join(project, "cache"), BUN_BE_BUN: "1" },
    stdio: ["ignore", "ignore", "pipe"],
    timeout: FETCH_TIMEOUT_MS,
    killSignal: "SIGKILL",
  });
  const [said, code] = await Promise.all([child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(said.trim().split("\n").at(-1) ?? `the fetch ended with ${code}`);
}
