// System calls that Bun has no API for, through its foreign function interface.
import { EMFILE, ENFILE, errno } from "./socket-calls.ts";
import { CString, dlopen, FFIType, ptr, read, type Pointer } from "bun:ffi";

const LOCK_EX_NB = 2 | 4;
const PR_SET_NO_NEW_PRIVS = 38;
/** The same number on every architecture (asm-generic). */
const SYS_PIDFD_OPEN = 434n;
const SYS_LANDLOCK_CREATE_RULESET = 444n;
const LANDLOCK_CREATE_RULESET_VERSION = 1n;
const POLLIN = 1;
const IPC_RMID = 0;
const RLIMIT_NOFILE = 7;
const SCHED_BATCH = 3;
const FALLOC_FL_KEEP_SIZE = 1;
const FALLOC_FL_PUNCH_HOLE = 2;

const { symbols: libc } = dlopen("libc.so.6", {
  flock: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  prctl: {
    args: [FFIType.i32, FFIType.u64, FFIType.u64, FFIType.u64, FFIType.u64],
    returns: FFIType.i32,
  },
  syscall: { args: [FFIType.i64, FFIType.i64, FFIType.i64, FFIType.i64], returns: FFIType.i64 },
  setrlimit: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
  getpwuid: { args: [FFIType.u32], returns: FFIType.ptr },
  poll: { args: [FFIType.ptr, FFIType.u64, FFIType.i32], returns: FFIType.i32 },
  fallocate: { args: [FFIType.i32, FFIType.i32, FFIType.i64, FFIType.i64], returns: FFIType.i32 },
  dup: { args: [FFIType.i32], returns: FFIType.i32 },
  sched_setscheduler: { args: [FFIType.i32, FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
  shmctl: { args: [FFIType.i32, FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
});

/**
 * Takes an exclusive `flock` on an open file without waiting.
 *
 * The lock belongs to the open file, so a child that inherits the descriptor keeps it after this process is gone.
 * @returns false when another open file has the lock.
 */
export function tryLock(fd: number): boolean {
  return libc.flock(fd, LOCK_EX_NB) === 0;
}

/** From here on no child of this thread can gain privileges, for example by a setuid program. */
export function forbidNewPrivileges(): void {
  if (libc.prctl(PR_SET_NO_NEW_PRIVS, 1n, 0n, 0n, 0n) !== 0) {
    throw new Error("prctl(PR_SET_NO_NEW_PRIVS) failed");
  }
}

/**
 * A descriptor that becomes readable when the process ends; `gone` when there is no such process, and `full` when this
 * process can open no more files.
 */
export function pidfdOpen(pid: number): number | "gone" | "full" {
  const fd = Number(libc.syscall(SYS_PIDFD_OPEN, BigInt(pid), 0n, 0n));
  if (fd >= 0) return fd;
  return [EMFILE, ENFILE].includes(errno()) ? "full" : "gone";
}

/** The version of the kernel's rules for paths (landlock(7)); 0 where it has none, or forbids them. */
export function landlockAbi(): number {
  const version = libc.syscall(SYS_LANDLOCK_CREATE_RULESET, 0n, 0n, LANDLOCK_CREATE_RULESET_VERSION);
  return Math.max(0, Number(version));
}

/** The descriptors of the list that are readable now. */
export function readableDescriptors(fds: number[]): number[] {
  if (fds.length === 0) return [];
  // struct pollfd is an int and two shorts: the descriptor, then the events asked for and, above them, the events
  // found.
  const entries = new Int32Array(fds.flatMap((fd) => [fd, POLLIN]));
  if (libc.poll(ptr(entries), BigInt(fds.length), 0) <= 0) return [];
  return fds.filter((_, index) => (entries[index * 2 + 1] ?? 0) >>> 16 !== 0);
}

/** Sets how many files this process and its children may have open. @returns false when it may not set that. */
export function limitOpenFiles(count: number): boolean {
  // struct rlimit is the limit in force, and the highest value that it can be raised to.
  return libc.setrlimit(RLIMIT_NOFILE, ptr(new BigUint64Array([BigInt(count), BigInt(count)]))) === 0;
}

/** Frees the space of a part of an open file; its size stays. @returns false when the file system cannot do that. */
export function punchHole(fd: number, offset: number, length: number): boolean {
  const mode = FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE;
  return libc.fallocate(fd, mode, BigInt(offset), BigInt(length)) === 0;
}

/** Another descriptor of the same open file, which programs that this process starts inherit; null without room. */
export function duplicate(fd: number): number | null {
  const copy = libc.dup(fd);
  return copy < 0 ? null : copy;
}

/** Lets this thread wait for its turn instead of preempting another when it has something to do (sched(7)). */
export function scheduleAsBatch(): void {
  libc.sched_setscheduler(0, SCHED_BATCH, ptr(new Int32Array(1)));
}

/** Deletes a System V shared memory segment, if it exists and this user may. */
export function removeSharedMemory(id: number): void {
  libc.shmctl(id, IPC_RMID, null);
}

/**
 * The name of a user as the system knows it, or null when it has no name. Bun's own answer is that of the environment.
 */
export function userName(uid: number): string | null {
  const entry = libc.getpwuid(uid);
  // The name is the first member of struct passwd.
  return entry === null ? null : new CString(read.ptr(entry, 0) as Pointer).toString();
}
