// Groups for tests that are ordinary folders: their processes are what a test writes into `cgroup.procs`.
import { join } from "node:path";
import type { CgroupBackend } from "../../src/host/os/cgroup-backends.ts";

/** A backend whose groups are in a folder. It has no limits. */
export function folderCgroups(folder: string): CgroupBackend {
  return {
    version: "cgroup-v2",
    place: "test",
    folders: (name) => [join(folder, name)],
    bindsFolder: () => null,
    ownProcesses: () => null,
    handOnTo: noLimits,
    settings: noLimits,
    memory: noLimits,
    cpu: noLimits,
    weight: noLimits,
  };
}

function noLimits(): never {
  throw new Error("folders have no limits");
}
