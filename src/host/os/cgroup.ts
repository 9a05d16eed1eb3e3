// Limits the memory, processes and processor of an instance with a cgroup, where the machine allows it.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, rmdir, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { EDGE_ID } from "../../contracts/edge-id.ts";
import type { Limits } from "../../contracts/observation.ts";
import { STORE_ID } from "../../contracts/store-id.ts";
import { codeOf } from "../../lib/errors.ts";
import { canGuardBinding, refuseReserved, type ReservedPorts } from "./bind-guard.ts";
import { enter, type CgroupBackend, type GroupCpu, type GroupLimits } from "./cgroup-backends.ts";
import { limitMemory, memoryIn } from "./cgroup-memory.ts";
import { childrenOf, textOf } from "./proc-files.ts";
import { signalProcess } from "./signals.ts";

/** The parent of all groups, so that an operator finds them. */
const PARENT = "pilvi";
/** Two Pilvis of a machine must not limit or dissolve each other's groups of these. */
const INSTANCES_OF_EVERY_PILVI = new Set([STORE_ID, EDGE_ID]);
/**
 * The weight of all engines together for each processor, as a multiple of the kernel's default for a session. A smaller
 * weight lets other processes interrupt engines for each byte that a busy gateway passes on. At twice the weight the
 * gateway waits for engines so long that throughput drops.
 */
const WEIGHT_PER_CPU = 1;

/** The weight of a group that is to take next to nothing of the processor while others need it. */
const YIELDING_WEIGHT = 0.02;

const KILL_TIMEOUT_MS = 10_000;
const DISSOLVE_TIMEOUT_MS = 1_000;
const DISSOLVE_RETRY_MS = 5;

/** What a group has besides the limits of its instance. */
interface GroupOptions {
  /** See `weigh`. */
  weight?: number | undefined;
  reserved?: ReservedPorts | undefined;
}

/**
 * Puts processes and all their future children into the instance's group, and limits its memory and number of
 * processes. The processor is not limited yet: a start with a quarter of a processor would take too long.
 */
export function confine(
  backend: CgroupBackend | null,
  id: string,
  pids: number[],
  limits: Limits,
  { weight = 1, reserved }: GroupOptions = {},
): void {
  if (backend === null || !isGrouped(limits)) return;
  confineTo(backend, id, pids, { ...groupLimitsOf(limits), cpus: null, reserved });
  weigh(backend, id, weight);
}

/**
 * Has the kernel begin what the first of several moves waits for, so that a process that is about to begin is moved sooner.
 * This process is moved to where it is, which changes nothing.
 */
export async function expectMove(backend: CgroupBackend | null): Promise<void> {
  const own = backend?.ownProcesses() ?? null;
  if (own === null) return;
  // Without it, the move takes as long as any other.
  await writeFile(own, String(process.pid), { flag: "r+" }).catch(() => undefined);
}

/** Like `confine`, for a process that has just begun, while the host does other work. */
export async function confineStarted(
  backend: CgroupBackend | null,
  id: string,
  pid: number,
  limits: Limits,
  { weight = 1, reserved }: GroupOptions = {},
): Promise<void> {
  if (backend === null || !isGrouped(limits)) return;
  await confineStartedTo(backend, id, pid, { ...groupLimitsOf(limits), cpus: null, reserved }, weight);
}

/**
 * Like `confineStarted`, for a process outside any instance. The kernel takes some 10 ms to move a process, and makes and
 * deletes no group meanwhile, so the host itself does not wait for any of them.
 */
export async function confineStartedTo(
  backend: CgroupBackend,
  id: string,
  pid: number,
  limits: GroupLimits,
  weight: number,
): Promise<void> {
  for (const folder of foldersFor(backend, groupOf(backend, id), limits))
    await mkdir(folder, { recursive: true });
  const folders = ensureGroup(backend, id, limits);
  weigh(backend, id, weight);
  await moveWithChildren(folders, pid);
}

/** Like `confine`, for processes outside any instance. */
export function confineTo(backend: CgroupBackend, id: string, pids: number[], limits: GroupLimits): void {
  const folders = ensureGroup(backend, id, limits);
  for (const pid of pids) enterWithChildren(folders, pid);
}

/** Makes the group with its limits. @returns its folders. */
function ensureGroup(backend: CgroupBackend, id: string, limits: GroupLimits): string[] {
  const name = groupOf(backend, id);
  const folders = foldersFor(backend, name, limits);
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  backend.handOnTo(name);
  writeFileSync(...backend.weight(PARENT, WEIGHT_PER_CPU * availableParallelism()));
  apply(backend, name, limits);
  const checked = backend.bindsFolder(name);
  if (limits.reserved !== undefined && checked !== null) refuseReserved(checked, limits.reserved);
  return folders;
}

/** Whether this process can have the kernel refuse ports to the processes of a group. */
export function canReservePorts(backend: CgroupBackend | null): boolean {
  return backend !== null && backend.bindsFolder(PARENT) !== null && canGuardBinding();
}

/** The folders that a group with these limits needs. */
function foldersFor(backend: CgroupBackend, name: string, { reserved }: GroupLimits): string[] {
  return reserved === undefined ? backend.folders(name) : allFolders(backend, name);
}

/** The folders that a group can have, some of which need not be there. */
function allFolders(backend: CgroupBackend, name: string): string[] {
  const checked = backend.bindsFolder(name);
  return [...new Set([...backend.folders(name), ...(checked === null ? [] : [checked])])];
}

/** Applies all limits to the instance from now on. */
export function limit(backend: CgroupBackend | null, id: string, limits: Limits): void {
  if (backend === null || !isGrouped(limits)) return;
  apply(backend, groupOf(backend, id), groupLimitsOf(limits));
}

/** Has all other groups come before a group that has processes. */
export function yieldProcessor(backend: CgroupBackend | null, id: string, limits: Limits): void {
  if (backend === null || !isGrouped(limits)) return;
  writeFileSync(...backend.weight(groupOf(backend, id), YIELDING_WEIGHT));
}

/** Sets how a group shares the processor with the others, as a multiple of the kernel's default. */
function weigh(backend: CgroupBackend, id: string, times: number): void {
  writeFileSync(...backend.weight(groupOf(backend, id), times));
}

/**
 * Kills all processes of a group, and the processes that they start during the call. Resolves when the group is empty.
 * @returns false when some are left after that time.
 */
export async function killGroup(
  backend: CgroupBackend | null,
  id: string,
  withinMs = KILL_TIMEOUT_MS,
): Promise<boolean> {
  const folders = backend === null ? [] : allFolders(backend, groupOf(backend, id));
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    const pids = folders.flatMap(processesOf);
    if (pids.length === 0) return true;
    if (performance.now() > giveUpAt) return false;
    for (const folder of folders) killAll(folder);
    for (const pid of pids) signalProcess(pid, "SIGKILL");
    await Bun.sleep(DISSOLVE_RETRY_MS);
  }
}

/** A list of processes is out of date at once. The kernel lets none begin, and kills all where it can. */
function killAll(folder: string): void {
  // The next process that is to run in the group gets its limits again before.
  writeIfThere(join(folder, "pids.max"), "0");
  writeIfThere(join(folder, "cgroup.kill"), "1");
}

/** Writes to a file of a group, unless the kernel does not have it, or the group is gone. */
function writeIfThere(path: string, value: string): void {
  if (!existsSync(path)) return;
  try {
    writeFileSync(path, value);
  } catch (error) {
    if (!["ENOENT", "ENODEV"].includes(codeOf(error) ?? "")) throw error;
  }
}

function processesOf(folder: string): number[] {
  return textOf(join(folder, "cgroup.procs")).split("\n").filter(Boolean).map(Number);
}

/** The number of processes of the instance that the kernel has killed for lack of memory since its group was made. */
export function oomKills(backend: CgroupBackend | null, id: string): number {
  if (backend === null) return 0;
  try {
    const events = readFileSync(backend.memory(groupOf(backend, id)).events, "utf8");
    return Number(/^oom_kill (\d+)$/m.exec(events)?.[1] ?? 0);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return 0;
    throw error;
  }
}

/**
 * The usage of the instance's group; a member is null where there is no group or the kernel does not count it. Memory
 * is without file contents that the kernel may drop at any time.
 */
export function usageOfGroup(
  backend: CgroupBackend | null,
  id: string,
  limits: Limits,
): { cpu: GroupCpu | null; memoryBytes: number | null } {
  if (backend === null || !isGrouped(limits)) return { cpu: null, memoryBytes: null };
  const name = groupOf(backend, id);
  return { cpu: backend.cpu(name), memoryBytes: memoryIn(backend.memory(name)) };
}

/** Deletes the instance's group. Its processes must have ended. */
export async function dissolve(backend: CgroupBackend | null, id: string): Promise<void> {
  if (backend === null) return;
  for (const folder of allFolders(backend, groupOf(backend, id))) {
    // A killed process still counts for a moment.
    const giveUpAt = performance.now() + DISSOLVE_TIMEOUT_MS;
    while (!(await isDissolved(folder)) && performance.now() < giveUpAt) await Bun.sleep(DISSOLVE_RETRY_MS);
  }
}

/** Moves an engine with the children that it already has. Later children join the group by themselves. */
function enterWithChildren(folders: string[], pid: number): void {
  for (const folder of folders) enter(folder, pid);
  for (const child of childrenOf(pid)) enterWithChildren(folders, child);
}

/** As `enterWithChildren`, while the host does other work. */
async function moveWithChildren(folders: string[], pid: number): Promise<void> {
  for (const folder of folders) await move(folder, pid);
  for (const child of childrenOf(pid)) await moveWithChildren(folders, child);
}

async function move(folder: string, pid: number): Promise<void> {
  try {
    await writeFile(join(folder, "cgroup.procs"), String(pid));
  } catch (error) {
    // The process has ended meanwhile; its watcher notices that.
    if (codeOf(error) !== "ESRCH") throw error;
  }
}

function apply(backend: CgroupBackend, name: string, limits: GroupLimits): void {
  limitMemory(backend.memory(name), limits.memoryBytes);
  for (const [path, value] of backend.settings(name, limits)) writeFileSync(path, value);
}

/**
 * Deletes a group's folder.
 * @returns false while it has processes. An empty group is harmless, and the next start uses it again.
 */
async function isDissolved(folder: string): Promise<boolean> {
  try {
    await rmdir(folder);
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

/** The path of an instance's group below the place of all groups. */
export function groupOf({ place }: CgroupBackend, id: string): string {
  return INSTANCES_OF_EVERY_PILVI.has(id) ? `${PARENT}/${id}-${place}` : `${PARENT}/${id}`;
}
