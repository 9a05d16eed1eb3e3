// The few system calls that Bun has no API for, through its foreign function interface.
import { dlopen, FFIType } from "bun:ffi";

const LOCK_EX_NB = 2 | 4;
const PR_SET_NO_NEW_PRIVS = 38;

const { symbols: libc } = dlopen("libc.so.6", {
  flock: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  prctl: {
    args: [FFIType.i32, FFIType.u64, FFIType.u64, FFIType.u64, FFIType.u64],
    returns: FFIType.i32,
  },
});

/**
 * Takes an exclusive `flock` on an open file without waiting.
 *
 * The lock belongs to the open file, so a child that inherits the descriptor keeps it after this process is gone.
 * @returns false when somebody else holds it.
 */
export function tryLock(fd: number): boolean {
  return libc.flock(fd, LOCK_EX_NB) === 0;
}

/** From here on no child of this thread can gain privileges, by a setuid program for example. */
export function forbidNewPrivileges(): void {
  if (libc.prctl(PR_SET_NO_NEW_PRIVS, 1n, 0n, 0n, 0n) !== 0) {
    throw new Error("prctl(PR_SET_NO_NEW_PRIVS) failed");
  }
}
