// Deno for applications, from the package of npm that carries its program, in one pinned version.
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, PublicError } from "../../lib/errors.ts";
import { syncFileSystem } from "../../lib/files.ts";
import { withFolderLocked } from "../install/lock.ts";
import { runtimesDir } from "./folder.ts";
import { installPackages } from "./npm-packages.ts";

/** The version that applications get. */
export const DENO_VERSION = "2.9.6";

const PACKAGE = `@deno/linux-${process.arch}-glibc`;

/** The program that has been fetched; null before the first need. */
export function findDeno(enginesDir: string): string | null {
  const program = join(homeOf(enginesDir), "deno");
  return existsSync(program) ? program : null;
}

/** The program, fetched with the given Bun where it is missing. @throws PublicError when it cannot be had. */
export async function ensureDeno(enginesDir: string, bun: string): Promise<string> {
  const found = findDeno(enginesDir);
  if (found !== null) return found;
  const folder = runtimesDir(enginesDir);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  return await withFolderLocked(
    folder,
    () => undefined,
    async () => findDeno(enginesDir) ?? (await fetchDeno(enginesDir, bun)),
  );
}

function homeOf(enginesDir: string): string {
  return join(runtimesDir(enginesDir), `deno-${DENO_VERSION}`);
}

async function fetchDeno(enginesDir: string, bun: string): Promise<string> {
  const project = join(runtimesDir(enginesDir), ".deno.tmp");
  await rm(project, { recursive: true, force: true });
  await mkdir(project);
  try {
    await installPackages(project, { [PACKAGE]: DENO_VERSION }, bun);
    const home = join(project, "node_modules", PACKAGE);
    const program = join(home, "deno");
    const chmod = Bun.spawnSync(["chmod", "-R", "u+rwX,go+rX,go-w,a-s,a+x", home]);
    const { stdout, success } = Bun.spawnSync([program, "--version"], { env: {} });
    if (!chmod.success || !success || !stdout.toString().startsWith("deno "))
      throw new Error("it does not run on this system");
    await syncFileSystem(home);
    await rename(home, homeOf(enginesDir));
    return join(homeOf(enginesDir), "deno");
  } catch (error) {
    throw new PublicError(`Deno ${DENO_VERSION} cannot be fetched now: ${messageOf(error)}`, error);
  } finally {
    await rm(project, { recursive: true, force: true });
  }
}
