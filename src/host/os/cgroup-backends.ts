// Where the cgroups of this machine are, and how a limit is written there, in either version.
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const MOUNT = "/sys/fs/cgroup";
const PERIOD_US = 100_000;

/** What a group is held to; null is no limit. */
export interface GroupLimits {
  memoryBytes: number;
  maxProcesses: number | null;
  cpus: number | null;
}

/** Where the groups of this Pilvi are, and how a limit is written there. */
export interface CgroupBackend {
  version: "cgroup-v2" | "cgroup-v1";
  /** The folders that make up one group: one for each controller in version 1. */
  folders(name: string): string[];
  /** The files to write for some limits, with what to write; those for memory are told by `memory`. */
  settings(name: string, limits: GroupLimits): FileValue[];
  /** The files that hold the memory of a group. */
  memory(name: string): MemoryFiles;
  /** The file to write for a weight, which is a multiple of the kernel's default, with what to write. */
  weight(name: string, times: number): FileValue;
}

/** The files that hold the memory of a group. */
export interface MemoryFiles {
  limit: string;
  /** Where the part of it that may be swapped out is limited, and whether that counts all memory or the swapped part alone. */
  swap: { path: string; counts: "all" | "swapped" };
  /** How much is in use. */
  usage: string;
  /** Has a line `oom_kill N`: how many processes the kernel has ended for want of memory. */
  events: string;
}

type FileValue = [path: string, value: string];

/** What this machine offers to this user, or null. */
export function findCgroups(mount = MOUNT): CgroupBackend | null {
  if (existsSync(join(mount, "cgroup.controllers"))) return version2(mount);
  const isUsable = ["memory", "cpu"].every((controller) => canWrite(join(mount, controller)));
  return isUsable ? version1(mount) : null;
}

function version2(mount: string): CgroupBackend | null {
  const controllers = readFileSync(join(mount, "cgroup.controllers"), "utf8").split(/\s+/);
  if (!controllers.includes("memory") || !controllers.includes("cpu") || !canWrite(mount)) return null;
  const countsProcesses = controllers.includes("pids");
  const handedOn = `+memory +cpu${countsProcesses ? " +pids" : ""}`;
  return {
    version: "cgroup-v2",
    folders: (name) => {
      // Controllers reach a group only when each group above hands them on.
      let folder = mount;
      for (const part of name.split("/")) {
        if (existsSync(folder)) writeFileSync(join(folder, "cgroup.subtree_control"), handedOn);
        folder = join(folder, part);
        if (!existsSync(folder)) mkdirSync(folder);
      }
      return [folder];
    },
    settings: (name, { maxProcesses, cpus }) => [
      [join(mount, name, "cpu.max"), `${cpus === null ? "max" : quotaUs(cpus)} ${PERIOD_US}`],
      ...processes(countsProcesses, join(mount, name), maxProcesses),
    ],
    memory: (name) => ({
      limit: join(mount, name, "memory.max"),
      swap: { path: join(mount, name, "memory.swap.max"), counts: "swapped" },
      usage: join(mount, name, "memory.current"),
      events: join(mount, name, "memory.events"),
    }),
    weight: (name, times) => [join(mount, name, "cpu.weight"), String(Math.min(100 * times, 10_000))],
  };
}

function version1(mount: string): CgroupBackend {
  const countsProcesses = canWrite(join(mount, "pids"));
  const controllers = ["memory", "cpu", ...(countsProcesses ? ["pids"] : [])];
  return {
    version: "cgroup-v1",
    folders: (name) => controllers.map((controller) => join(mount, controller, name)),
    settings: (name, { maxProcesses, cpus }) => [
      [join(mount, "cpu", name, "cpu.cfs_period_us"), String(PERIOD_US)],
      [join(mount, "cpu", name, "cpu.cfs_quota_us"), String(cpus === null ? -1 : quotaUs(cpus))],
      ...processes(countsProcesses, join(mount, "pids", name), maxProcesses),
    ],
    memory: (name) => ({
      limit: join(mount, "memory", name, "memory.limit_in_bytes"),
      swap: { path: join(mount, "memory", name, "memory.memsw.limit_in_bytes"), counts: "all" },
      usage: join(mount, "memory", name, "memory.usage_in_bytes"),
      events: join(mount, "memory", name, "memory.oom_control"),
    }),
    weight: (name, times) => [
      join(mount, "cpu", name, "cpu.shares"),
      String(Math.min(1024 * times, 262_144)),
    ],
  };
}

function processes(isCounted: boolean, folder: string, most: number | null): FileValue[] {
  return isCounted ? [[join(folder, "pids.max"), most === null ? "max" : String(most)]] : [];
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
