// Finds the cgroups of this machine, and knows how limits are written there in version 1 and 2.
import { accessSync, constants, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../lib/errors.ts";
import { readIfPresent } from "../../lib/files.ts";
import { sha256Hex } from "../../lib/secrets.ts";
import type { ReservedPorts } from "./bind-guard.ts";

const MOUNT = "/sys/fs/cgroup";
/** Groups of version 2 beside controllers of version 1. */
const UNIFIED = "unified";
const PERIOD_US = 100_000;
const PLACE_CHARACTERS = 12;
/** The group of all processes of a container but those of instances. */
const OTHER_PROCESSES = "beside-pilvi";
/** How long new processes may keep the uppermost group from being emptied. */
const EMPTYING_TIMEOUT_MS = 1_000;

/** The limits of a group; null means no limit. */
export interface GroupLimits {
  memoryBytes: number;
  maxProcesses: number | null;
  cpus: number | null;
  /** The ports that a customer's processes may not take, where the kernel can refuse them; left out for all others. */
  reserved?: ReservedPorts | undefined;
}

/** The place of Pilvi's groups, and the way to write limits there. */
export interface CgroupBackend {
  version: "cgroup-v2" | "cgroup-v1";
  /** Marks the groups of a Pilvi whose instances have the same ids in every Pilvi of the machine. */
  place: string;
  /** The folders of one group: version 1 has one for each controller. */
  folders(name: string): string[];
  /** The group's folder of version 2, where the kernel can check binds; null where it has none. */
  bindsFolder(name: string): string | null;
  /** The list of processes of the group that this process itself is in; null where it cannot be found. */
  ownProcesses(): string | null;
  /** Has the controllers reach a group whose folders are there. */
  handOnTo(name: string): void;
  /** The files and values to write for limits; `memory` names the files for memory. */
  settings(name: string, limits: GroupLimits): FileValue[];
  /** The memory files of a group. */
  memory(name: string): MemoryFiles;
  /** What a group has counted of the processor; null where the kernel does not count it for the group. */
  cpu(name: string): GroupCpu | null;
  /** The file and value to write for a weight, a multiple of the kernel's default. */
  weight(name: string, times: number): FileValue;
}

/** The processor time of a group. */
export interface GroupCpu {
  /** Since the group was made. */
  ms: number;
  /** The group itself; another group of the same name has another number. */
  group: number;
}

/** The memory files of a group. */
export interface MemoryFiles {
  limit: string;
  /** The limit for swap, and whether it counts all memory or the swapped part alone. */
  swap: { path: string; counts: "all" | "swapped" };
  /** The memory in use. */
  usage: string;
  /** Has a line `oom_kill N`: the number of processes that the kernel killed for lack of memory. */
  events: string;
  /** The file and the name in it for file contents that the kernel may drop at any time, which `usage` includes. */
  droppable: { path: string; name: string };
}

type FileValue = [path: string, value: string];

/** The cgroups that this user may write on this machine, for the Pilvi in a data directory; null without any. */
export function findCgroups(dataDir: string, mount = MOUNT): CgroupBackend | null {
  const place = sha256Hex(dataDir).slice(0, PLACE_CHARACTERS);
  if (existsSync(join(mount, "cgroup.controllers"))) return version2(mount, place);
  const isUsable = ["memory", "cpu"].every((controller) => canWrite(join(mount, controller)));
  return isUsable ? version1(mount, place) : null;
}

function version2(mount: string, place: string): CgroupBackend | null {
  const controllers = readFileSync(join(mount, "cgroup.controllers"), "utf8").split(/\s+/);
  if (!controllers.includes("memory") || !controllers.includes("cpu") || !canWrite(mount)) return null;
  const countsProcesses = controllers.includes("pids");
  const needed = ["memory", "cpu", ...(countsProcesses ? ["pids"] : [])];
  if (!canHandOn(mount, needed)) return null;
  return {
    version: "cgroup-v2",
    place,
    folders: (name) => [join(mount, name)],
    bindsFolder: (name) => join(mount, name),
    ownProcesses: () => ownProcesses(mount, ""),
    handOnTo: (name) => {
      const above = name.split("/").slice(0, -1);
      for (let depth = 1; depth <= above.length; depth += 1)
        handOn(join(mount, ...above.slice(0, depth)), needed);
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
      droppable: { path: join(mount, name, "memory.stat"), name: "inactive_file" },
    }),
    cpu: (name) =>
      cpuIn(join(mount, name), "cpu.stat", (text) => {
        const usedUs = /^usage_usec (\d+)$/m.exec(text)?.[1];
        return usedUs === undefined ? null : Number(usedUs) / 1_000;
      }),
    weight: (name, times) => [
      join(mount, name, "cpu.weight"),
      String(Math.min(Math.round(100 * times), 10_000)),
    ],
  };
}

/** Whether the uppermost group hands the controllers on; makes it do so. */
function canHandOn(mount: string, controllers: string[]): boolean {
  const giveUpAt = performance.now() + EMPTYING_TIMEOUT_MS;
  while (performance.now() < giveUpAt) {
    try {
      handOn(mount, controllers);
      return true;
    } catch (error) {
      if (codeOf(error) !== "EBUSY" || !emptyUppermost(mount)) return false;
    }
  }
  return false;
}

/**
 * Has a group hand controllers on to the groups in it. A write waits until the kernel has forgotten former groups, so
 * nothing is written when the group does so already.
 */
function handOn(folder: string, controllers: string[]): void {
  const path = join(folder, "cgroup.subtree_control");
  const handedOn = readFileSync(path, "utf8").trim().split(" ");
  if (controllers.every((controller) => handedOn.includes(controller))) return;
  writeFileSync(path, controllers.map((controller) => `+${controller}`).join(" "));
}

/**
 * Moves the processes of the uppermost group into a group of their own. In a container that group is not the kernel's
 * root, and may either have processes or hand controllers on (cgroup-v2.rst, "No Internal Process Constraint").
 * @returns false where this user may not.
 */
function emptyUppermost(mount: string): boolean {
  const folder = join(mount, OTHER_PROCESSES);
  try {
    mkdirSync(folder, { recursive: true });
    for (const pid of readFileSync(join(mount, "cgroup.procs"), "utf8").split("\n").filter(Boolean))
      enter(folder, Number(pid));
    return true;
  } catch {
    return false;
  }
}

/** Moves a process into a group, unless it has ended. */
export function enter(folder: string, pid: number): void {
  try {
    writeFileSync(join(folder, "cgroup.procs"), String(pid));
  } catch (error) {
    // The process has ended meanwhile; its watcher notices that.
    if (codeOf(error) !== "ESRCH") throw error;
  }
}

function version1(mount: string, place: string): CgroupBackend {
  const countsProcesses = canWrite(join(mount, "pids"));
  const controllers = ["memory", "cpu", ...(countsProcesses ? ["pids"] : [])];
  const unified = join(mount, UNIFIED);
  return {
    version: "cgroup-v1",
    place,
    folders: (name) => controllers.map((controller) => join(mount, controller, name)),
    bindsFolder: (name) => (canWrite(join(unified, "cgroup.procs")) ? join(unified, name) : null),
    ownProcesses: () => ownProcesses(join(mount, "memory"), "memory"),
    handOnTo: () => undefined,
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
      droppable: { path: join(mount, "memory", name, "memory.stat"), name: "total_inactive_file" },
    }),
    // Most machines mount both controllers together; elsewhere Pilvi's groups have no count.
    cpu: (name) => cpuIn(join(mount, "cpu", name), "cpuacct.usage", (text) => Number(text) / 1_000_000),
    weight: (name, times) => [
      join(mount, "cpu", name, "cpu.shares"),
      String(Math.min(Math.round(1024 * times), 262_144)),
    ],
  };
}

/** @param msOf the milliseconds in the text of the file; null where it has none. */
function cpuIn(folder: string, file: string, msOf: (text: string) => number | null): GroupCpu | null {
  const text = readIfPresent(join(folder, file));
  const ms = text === null ? null : msOf(text);
  const group = statSync(folder, { throwIfNoEntry: false })?.ino;
  return ms === null || group === undefined ? null : { ms, group };
}

/** @param controller of version 1; empty for version 2. */
function ownProcesses(folder: string, controller: string): string | null {
  const lines = (readIfPresent("/proc/self/cgroup") ?? "").split("\n").map((line) => line.split(":"));
  const path = lines
    .find(([, controllers]) => controllers === controller)
    ?.slice(2)
    .join(":");
  return path === undefined ? null : join(folder, path, "cgroup.procs");
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
