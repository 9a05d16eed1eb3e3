// Holds an instance to its memory, processes and processor through the kernel, where this machine lets us: in a cgroup.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Limits } from "../../drivers/driver.ts";
import { codeOf } from "../../lib/errors.ts";
import type { CgroupBackend, GroupLimits, MemoryFiles } from "./cgroup-backends.ts";

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

/**
 * Puts processes, with all that they will start, into the instance's group, and holds them to its memory and number of processes.
 *
 * The processor is not limited yet: a start that is slowed down to a quarter of one helps nobody.
 */
export function confine(backend: CgroupBackend | null, id: string, pids: number[], limits: Limits): void {
  if (backend === null || !isGrouped(limits)) return;
  confineTo(backend, id, pids, { ...groupLimitsOf(limits), cpus: null });
}

/** As `confine`, for what is no instance. */
export function confineTo(backend: CgroupBackend, id: string, pids: number[], limits: GroupLimits): void {
  const name = nameOf(id);
  const folders = backend.folders(name);
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  writeFileSync(...backend.weight(PARENT, WEIGHT_PER_CPU * availableParallelism()));
  apply(backend, name, limits);
  for (const pid of pids) enterWithChildren(folders, pid);
}

/** Holds the instance to all of its limits from now on. */
export function limit(backend: CgroupBackend | null, id: string, limits: Limits): void {
  if (backend === null || !isGrouped(limits)) return;
  apply(backend, nameOf(id), groupLimitsOf(limits));
}

/** How many processes of the instance the kernel has ended for want of memory since its group was made. */
export function oomKills(backend: CgroupBackend | null, id: string): number {
  if (backend === null) return 0;
  try {
    const events = readFileSync(backend.memory(nameOf(id)).events, "utf8");
    return Number(/^oom_kill (\d+)$/m.exec(events)?.[1] ?? 0);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return 0;
    throw error;
  }
}

/** Deletes the instance's group; its processes must have ended. */
export async function dissolve(backend: CgroupBackend | null, id: string): Promise<void> {
  if (backend === null) return;
  for (const folder of backend.folders(nameOf(id))) {
    // A process that was just killed still counts for a moment.
    const giveUpAt = performance.now() + DISSOLVE_TIMEOUT_MS;
    while (!isDissolved(folder) && performance.now() < giveUpAt) await Bun.sleep(DISSOLVE_RETRY_MS);
  }
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

function apply(backend: CgroupBackend, name: string, limits: GroupLimits): void {
  limitMemory(backend.memory(name), limits.memoryBytes);
  for (const [path, value] of backend.settings(name, limits)) writeFileSync(path, value);
}

/**
 * What runs with more than it is to have from now on keeps the limit that it has until it starts anew: nobody is to be killed for a
 * change. Nothing is swapped out beyond the limit, since a hog would keep the disk of all busy before it ends.
 */
function limitMemory({ limit: path, swap, usage }: MemoryFiles, bytes: number): void {
  if (numberIn(usage) > bytes) return;
  const files: [path: string, value: string][] = [[path, String(bytes)]];
  if (existsSync(swap.path)) files.push([swap.path, swap.counts === "all" ? String(bytes) : "0"]);
  // Memory and swap together must never be less than memory, so what is raised begins with both.
  const isRaised = bytes > numberIn(path);
  for (const [file, value] of isRaised ? files.toReversed() : files) {
    try {
      writeFileSync(file, value);
    } catch (error) {
      // It has come to use more than that just now.
      if (codeOf(error) !== "EBUSY") throw error;
    }
  }
}

/** What a file says; version 2 has a word for what is not limited. */
function numberIn(path: string): number {
  const text = readFileSync(path, "utf8").trim();
  return text === "max" ? Infinity : Number(text);
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

function isGrouped({ enforcedBy }: Limits): boolean {
  return enforcedBy === "cgroup-v1" || enforcedBy === "cgroup-v2";
}

function groupLimitsOf({ memoryBytes, totalMemoryBytes, maxProcesses, cpus }: Limits): GroupLimits {
  return {
    memoryBytes: totalMemoryBytes ?? memoryBytes,
    maxProcesses: maxProcesses ?? null,
    cpus: cpus ?? null,
  };
}

function nameOf(id: string): string {
  return `${PARENT}/${id}`;
}
