// Installs tools from the distribution's signed packages, into the folder of engines instead of the system.
import { existsSync } from "node:fs";
import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../lib/errors.ts";
import { syncFileSystem } from "../../lib/files.ts";
import type { Apt } from "../install/apt.ts";
import { withApt } from "../install/with-apt.ts";
import { withFolderLocked } from "../install/lock.ts";
import { mustRun } from "../install/run.ts";
import { libraryDirs } from "../install/unpack.ts";
import { findTool, TOOL_NOTE, TOOLS, toolsDir, type ToolName } from "./tools.ts";

/** A tool that could not be installed, and why, as a sentence. */
interface ToolFailure {
  name: ToolName;
  reason: string;
}

/** Installs the tools that the machine lacks. @returns the tools that could not be installed. */
export async function installTools(
  names: readonly ToolName[],
  enginesDir: string,
  progress: (line: string) => void,
): Promise<ToolFailure[]> {
  const isMissing = (name: ToolName) => findTool(name, enginesDir) === null;
  if (!names.some(isMissing)) return [];
  const folder = toolsDir(enginesDir);
  await mkdir(folder, { recursive: true });
  // Tools run under other users, which must get in whatever the umask of this process is.
  for (const path of [enginesDir, folder]) await chmod(path, 0o755);
  return await withFolderLocked(folder, progress, async () => {
    const missing = names.filter(isMissing);
    return missing.length === 0 ? [] : await installFromApt(missing, folder, progress);
  });
}

async function installFromApt(
  names: ToolName[],
  folder: string,
  progress: (line: string) => void,
): Promise<ToolFailure[]> {
  try {
    return await withApt(folder, {}, async (apt) => {
      const failures: ToolFailure[] = [];
      for (const name of names) {
        try {
          await installTool(name, apt, folder);
          progress(`${name} installed`);
        } catch (error) {
          failures.push(failureOf(name, error));
        }
      }
      return failures;
    });
  } catch (error) {
    return names.map((name) => failureOf(name, error));
  }
}

function failureOf(name: ToolName, error: unknown): ToolFailure {
  return { name, reason: `${messageOf(error).replace(/\.$/, "")}.` };
}

async function installTool(name: ToolName, apt: Apt, folder: string): Promise<void> {
  const tool = TOOLS[name];
  const resolved = await apt.resolve([tool.package]);
  const packages = resolved.filter((each) => each.name === tool.package || /^(lib|zlib1g$)/.test(each.name));
  const main = packages.find((each) => each.name === tool.package);
  if (main === undefined) throw new Error(`apt has no package ${tool.package}`);
  await apt.download(packages);
  const unfinished = join(folder, `${name}.tmp`);
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished);
  for (const each of packages)
    await mustRun(["dpkg-deb", "--extract", apt.archiveOf(each), unfinished], folder);
  await mustRun(["chmod", "-R", "u+rwX,go+rX,go-w,a-s", unfinished], folder);
  const note = {
    version: 1,
    name,
    package: main.version,
    libraryDirs: await libraryDirs(unfinished),
  };
  await writeFile(join(unfinished, TOOL_NOTE), `${JSON.stringify(note)}\n`, { mode: 0o644 });
  await syncFileSystem(unfinished);
  const home = join(folder, `${name}-${main.version.replace(/^\d+:/, "")}`);
  if (existsSync(home)) await rm(home, { recursive: true });
  await rename(unfinished, home);
}
