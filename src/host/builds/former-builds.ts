// Takes up the builds of an earlier host: marks interrupted builds as ended, and deletes the trees of all.
import { rmSync } from "node:fs";
import type { Build, BuildFile } from "../../contracts/builds.ts";
import { dissolve } from "../os/cgroup.ts";
import { buildsDir, releasesDir } from "../os/layout.ts";
import type { TreeRemover } from "../../lib/tree-removal.ts";
import { interruption } from "./build-failures.ts";
import { buildFolder, buildIds, hasOldValues, readBuild, readRelease, writeBuild } from "./build-folder.ts";
import type { BuildParts } from "./build-run.ts";
import { groupOf } from "./step-options.ts";
import { killRest } from "./step-process.ts";

type Parts = Pick<BuildParts, "dataDir" | "cgroups" | "log">;

/** The builds of an earlier host, none of which runs any more. */
export async function formerBuilds(parts: Parts, remover: TreeRemover): Promise<BuildFile[]> {
  const folder = buildsDir(parts.dataDir);
  for (const each of [folder, releasesDir(parts.dataDir)]) remover.start(each);
  const kept: BuildFile[] = [];
  for (const id of buildIds(parts.dataDir)) {
    const file = load(parts, id, remover);
    if (file === null) continue;
    const isCutOff = file.build.state === "running";
    if (isCutOff) await endProcesses(parts, id);
    // The room is freed first, since a full disk takes no note of an end.
    discardTree(parts, id, remover);
    kept.push(isCutOff ? await interrupted(parts, file) : file);
  }
  return kept;
}

/**
 * Takes the values of variables out of the files of ended builds, which an earlier Pilvi kept. The start of the host does
 * not wait for that.
 */
export async function forgetValues(
  { dataDir, log }: Parts,
  kept: readonly BuildFile[],
  isWanted: (id: string) => boolean,
): Promise<void> {
  for (const file of kept) {
    const { id } = file.build;
    const folder = buildFolder(dataDir, id);
    try {
      if (isWanted(id) && hasOldValues(folder, file)) await writeBuild(folder, file);
    } catch (error) {
      log.warn({ error, build: id }, "the values of an ended build could not be deleted");
    }
  }
}

function load({ dataDir, log }: Parts, id: string, remover: TreeRemover): BuildFile | null {
  const folder = buildFolder(dataDir, id);
  try {
    const file = readBuild(folder);
    // Its order was never answered, so the control plane orders it again.
    if (file === null) remover.discard(folder.path, buildsDir(dataDir));
    return file;
  } catch (error) {
    log.error({ error, build: id }, "a build cannot be understood, and is left alone");
    return null;
  }
}

/** What a disk without room for another name keeps is left to the next host. */
function discardTree({ dataDir, log }: Parts, id: string, remover: TreeRemover): void {
  const { work, conf } = buildFolder(dataDir, id);
  try {
    for (const path of [work, conf]) remover.discard(path, buildsDir(dataDir));
  } catch (error) {
    log.warn({ error, build: id }, "the tree of a build could not be deleted");
  }
}

async function endProcesses({ cgroups, dataDir }: Parts, id: string): Promise<void> {
  await killRest({ cgroups, group: groupOf(id), lock: buildFolder(dataDir, id).lock });
  await dissolve(cgroups, groupOf(id));
}

/** A build whose release is there had come to its end but for its state. */
async function interrupted(parts: Parts, { build, spec }: BuildFile): Promise<BuildFile> {
  const { dataDir, log } = parts;
  const folder = buildFolder(dataDir, build.id);
  rmSync(folder.source, { force: true });
  const isMade = readRelease(parts, build.id) !== null;
  const ended: Build = {
    ...build,
    state: isMade ? "succeeded" : "failed",
    endedAt: new Date().toISOString(),
    failure: isMade ? null : interruption(spec),
  };
  const file = { build: ended, spec };
  // The next host finds it cut off again, and nothing else waits for a disk that is full.
  await writeBuild(folder, file).catch((error: unknown) =>
    log.warn({ error, build: build.id }, "the end of a build could not be kept"),
  );
  return file;
}
