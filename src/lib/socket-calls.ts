// The system calls on sockets that the host and the gateway share, through Bun's foreign function interface.
import { dlopen, FFIType, ptr, read, type Pointer } from "bun:ffi";

const { i32, u32, i64_fast: size } = FFIType;

const { symbols } = dlopen("libc.so.6", {
  socket: { args: [i32, i32, i32], returns: i32 },
  socketpair: { args: [i32, i32, i32, FFIType.ptr], returns: i32 },
  bind: { args: [i32, FFIType.ptr, u32], returns: i32 },
  listen: { args: [i32, i32], returns: i32 },
  accept4: { args: [i32, FFIType.ptr, FFIType.ptr, i32], returns: i32 },
  connect: { args: [i32, FFIType.ptr, u32], returns: i32 },
  setsockopt: { args: [i32, i32, i32, FFIType.ptr, u32], returns: i32 },
  getsockopt: { args: [i32, i32, i32, FFIType.ptr, FFIType.ptr], returns: i32 },
  getsockname: { args: [i32, FFIType.ptr, FFIType.ptr], returns: i32 },
  getpeername: { args: [i32, FFIType.ptr, FFIType.ptr], returns: i32 },
  inet_ntop: { args: [i32, FFIType.ptr, FFIType.ptr, u32], returns: FFIType.ptr },
  sendmsg: { args: [i32, FFIType.ptr, i32], returns: size },
  recvmsg: { args: [i32, FFIType.ptr, i32], returns: size },
  shutdown: { args: [i32, i32], returns: i32 },
  close: { args: [i32], returns: i32 },
  __errno_location: { args: [], returns: FFIType.ptr },
});

/** The calls as they are; each returns -1 on failure, and `errno()` says why. */
export const sockets = symbols;

/** Why the last call of this thread failed. */
export function errno(): number {
  return read.i32(symbols.__errno_location() as Pointer, 0);
}

/** The address of a typed array's memory, which is valid as long as the array lives. */
export function memoryOf(memory: NodeJS.TypedArray | DataView): Pointer {
  // A small array moves when its buffer is asked for the first time, so this asks before.
  void memory.buffer;
  return ptr(memory);
}

// The numbers below are those of Linux on x86-64 and arm64 alike (asm-generic).
export const EINTR = 4;
export const EAGAIN = 11;
export const EADDRINUSE = 98;
/** This process, or the machine, can open no more files. */
export const EMFILE = 24;
export const ENFILE = 23;
export const ETOOMANYREFS = 109;

export const AF_UNIX = 1;
export const AF_INET = 2;
export const AF_INET6 = 10;
export const SOCK_STREAM = 1;
export const SOCK_SEQPACKET = 5;
export const SOCK_NONBLOCK = 0o4000;
export const SOCK_CLOEXEC = 0o2000000;

export const SOL_SOCKET = 1;
export const SO_REUSEADDR = 2;
export const SO_TYPE = 3;
export const SO_ACCEPTCONN = 30;
export const SO_REUSEPORT = 15;
export const SO_PROTOCOL = 38;
export const SCM_RIGHTS = 1;
export const IPPROTO_TCP = 6;
export const IPPROTO_IPV6 = 41;
export const IPV6_V6ONLY = 26;

export const MSG_DONTWAIT = 0x40;
export const MSG_NOSIGNAL = 0x4000;
export const MSG_CMSG_CLOEXEC = 0x4000_0000;
export const SHUT_RD = 0;
export const SHUT_RDWR = 2;
