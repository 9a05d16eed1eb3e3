// Holds an instance to its memory and processor through the kernel, where this machine lets us: cgroups of either version.
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Limits } from "../drivers/driver.ts";
import { codeOf } from "../lib/errors.ts";

const MOUNT = "/sys/fs/cgroup";
const PERIOD_US = 100_000;

/** All groups are below it, so that an operator finds them. */
const PARENT = "pilvi";
/**
 * What all engines together weigh for each processor, as a multiple of what the kernel gives the other processes of one session.
 * With less they would be interrupted for each byte that a busy gateway passes on; with twice as much the gateway would wait for
 * them so long that less gets through.
 */
const WEIGHT_PER_CPU = 1;

const DISSOLVE_TIMEOUT_MS = 1_000;
const DISSOLVE_RETRY_MS = 5;

/** Where the groups of this Pilvi are, and how a limit is written there. */
export interface CgroupBackend {
  version: "cgroup-v2" | "cgroup-v1";
  /** The folders that make up one group: one for each controller in version 1. */
  folders(name: string): string[];
  /** The files to write for some limits, with what to write. */
  settings(name: string, limits: { memoryBytes: number; cpus: number | null }): FileValue[];
  /** The file to write for a weight, which is a multiple of the kernel's default, with what to write. */
  weight(name: string, times: number): FileValue;
}

type FileValue = [path: string, value: string];

/** What this machine offers to this user, or null. */
export function findCgroups(mount = MOUNT): CgroupBackend | null {
  if (existsSync(join(mount, "cgroup.controllers"))) return version2(mount);
  const isUsable = ["memory", "cpu"].every((controller) => canWrite(join(mount, controller)));
  return isUsable ? version1(mount) : null;
}

/**
 * Puts processes, with all that they will start, into the instance's group, and holds them to its memory.
 *
 * The processor is not limited yet: a start that is slowed down to a quarter of one helps nobody.
 */
export function confine(backend: CgroupBackend | null, id: string, pids: number[], limits: Limits): void {
  if (backend === null || limits.enforcedBy === "engine") return;
  const { memoryBytes } = limits;
  const name = nameOf(id);
  for (const folder of backend.folders(name)) mkdirSync(folder, { recursive: true });
  writeFileSync(...backend.weight(PARENT, WEIGHT_PER_CPU * availableParallelism()));
  for (const [path, value] of backend.settings(name, { memoryBytes, cpus: null })) writeFileSync(path, value);
  for (const pid of pids) enterWithChildren(backend.folders(name), pid);
}

/** An engine may have begun to start others before this host came to it; those that it starts from now on follow it by themselves. */
function enterWithChildren(folders: string[], pid: number): void {
  for (const folder of folders) enter(folder, pid);
  for (const child of childrenOf(pid)) enterWithChildren(folders, child);
}

/** None of a process that has ended meanwhile. */
function childrenOf(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    return children === "" ? [] : children.split(" ").map(Number);
  } catch {
    return [];
  }
}

function enter(folder: string, pid: number): void {
  try {
    writeFileSync(join(folder, "cgroup.procs"), String(pid));
  } catch (error) {
    // The process has ended meanwhile, which is noticed elsewhere.
    if (codeOf(error) !== "ESRCH") throw error;
  }
}

/** Holds the instance to all of its limits from now on. */
export function limit(backend: CgroupBackend | null, id: string, limits: Limits): void {
  if (backend === null || limits.enforcedBy === "engine") return;
  const { memoryBytes, cpus } = limits;
  for (const [path, value] of backend.settings(nameOf(id), { memoryBytes, cpus: cpus ?? null }))
    writeFileSync(path, value);
}

/** Deletes the instance's group; its processes must have ended. */
export async function dissolve(backend: CgroupBackend | null, id: string): Promise<void> {
  for (const folder of backend?.folders(nameOf(id)) ?? []) {
    // A process that was just killed still counts for a moment.
    const giveUpAt = performance.now() + DISSOLVE_TIMEOUT_MS;
    while (!isDissolved(folder) && performance.now() < giveUpAt) await Bun.sleep(DISSOLVE_RETRY_MS);
  }
}

/** @returns false when there are still processes in it. An empty group does no harm, and the next start takes it again. */
function isDissolved(folder: string): boolean {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (codeOf(error) === "EBUSY") return false;
    if (codeOf(error) !== "ENOENT") throw error;
  }
  return true;
}

function version2(mount: string): CgroupBackend | null {
  const controllers = readFileSync(join(mount, "cgroup.controllers"), "utf8").split(/\s+/);
  if (!controllers.includes("memory") || !controllers.includes("cpu") || !canWrite(mount)) return null;
  return {
    version: "cgroup-v2",
    folders: (name) => {
      // Controllers reach a group only when each group above hands them on.
      let folder = mount;
      for (const part of name.split("/")) {
        if (existsSync(folder)) writeFileSync(join(folder, "cgroup.subtree_control"), "+memory +cpu");
        folder = join(folder, part);
        if (!existsSync(folder)) mkdirSync(folder);
      }
      return [folder];
    },
    settings: (name, { memoryBytes, cpus }) => [
      [join(mount, name, "memory.max"), String(memoryBytes)],
      [join(mount, name, "cpu.max"), `${cpus === null ? "max" : quotaUs(cpus)} ${PERIOD_US}`],
    ],
    weight: (name, times) => [join(mount, name, "cpu.weight"), String(Math.min(100 * times, 10_000))],
  };
}

function version1(mount: string): CgroupBackend {
  return {
    version: "cgroup-v1",
    folders: (name) => [join(mount, "memory", name), join(mount, "cpu", name)],
    settings: (name, { memoryBytes, cpus }) => [
      [join(mount, "memory", name, "memory.limit_in_bytes"), String(memoryBytes)],
      [join(mount, "cpu", name, "cpu.cfs_period_us"), String(PERIOD_US)],
      [join(mount, "cpu", name, "cpu.cfs_quota_us"), String(cpus === null ? -1 : quotaUs(cpus))],
    ],
    weight: (name, times) => [
      join(mount, "cpu", name, "cpu.shares"),
      String(Math.min(1024 * times, 262_144)),
    ],
  };
}

function nameOf(id: string): string {
  return `${PARENT}/${id}`;
}

function quotaUs(cpus: number): number {
  return Math.round(cpus * PERIOD_US);
}

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
