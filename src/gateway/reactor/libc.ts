// The system calls of the gateway's loop, through Bun's foreign function interface. Bun's own sockets keep their descriptors to
// themselves, and a loop of our own costs less for each chunk that is passed on.
import { dlopen, FFIType, ptr, read, type Pointer } from "bun:ffi";

const { i32, u32, u64_fast: size } = FFIType;

const { symbols } = dlopen("libc.so.6", {
  socket: { args: [i32, i32, i32], returns: i32 },
  bind: { args: [i32, FFIType.ptr, u32], returns: i32 },
  listen: { args: [i32, i32], returns: i32 },
  accept4: { args: [i32, FFIType.ptr, FFIType.ptr, i32], returns: i32 },
  connect: { args: [i32, FFIType.ptr, u32], returns: i32 },
  setsockopt: { args: [i32, i32, i32, FFIType.ptr, u32], returns: i32 },
  recv: { args: [i32, FFIType.ptr, size, i32], returns: i32 },
  send: { args: [i32, FFIType.ptr, size, i32], returns: i32 },
  shutdown: { args: [i32, i32], returns: i32 },
  close: { args: [i32], returns: i32 },
  sched_setscheduler: { args: [i32, i32, FFIType.ptr], returns: i32 },
  ioctl: { args: [i32, size, FFIType.ptr], returns: i32 },
  epoll_create1: { args: [i32], returns: i32 },
  epoll_ctl: { args: [i32, i32, i32, FFIType.ptr], returns: i32 },
  epoll_wait: { args: [i32, FFIType.ptr, i32, i32], returns: i32 },
  __errno_location: { args: [], returns: FFIType.ptr },
});

/** The calls as they are; each returns -1 when it failed, and `errno()` says why. */
export const libc = symbols;

/** Why the last call of this thread failed. */
export function errno(): number {
  return read.i32(symbols.__errno_location() as Pointer, 0);
}

/** The address of a typed array's memory, which stays where it is for as long as the array lives. */
export function addressOf(memory: NodeJS.TypedArray | DataView): Pointer {
  // A small array moves when its buffer is asked for the first time, as `subarray` does, so that is done before.
  void memory.buffer;
  return ptr(memory);
}

// The numbers below are those of Linux on x86-64 and arm64 alike (asm-generic).
export const EINTR = 4;
export const EAGAIN = 11;
export const EADDRINUSE = 98;
export const ECONNABORTED = 103;

export const AF_UNIX = 1;
export const AF_INET = 2;
export const AF_INET6 = 10;
export const SOCK_STREAM = 1;
export const SOCK_NONBLOCK = 0o4000;
export const SOCK_CLOEXEC = 0o2000000;

export const SOL_SOCKET = 1;
export const SO_REUSEADDR = 2;
export const SO_KEEPALIVE = 9;
export const IPPROTO_TCP = 6;
export const TCP_NODELAY = 1;
export const TCP_KEEPIDLE = 4;
export const TCP_KEEPINTVL = 5;
export const TCP_KEEPCNT = 6;
export const IPPROTO_IPV6 = 41;
export const IPV6_V6ONLY = 26;

export const MSG_PEEK = 2;
export const MSG_NOSIGNAL = 0x4000;
export const SHUT_WR = 1;
export const SIOCOUTQ = 0x5411;

export const SCHED_BATCH = 3;

export const EPOLLIN = 1;
export const EPOLLOUT = 4;
export const EPOLLERR = 8;
export const EPOLLHUP = 16;
export const EPOLLRDHUP = 0x2000;
export const EPOLL_CTL_ADD = 1;
export const EPOLL_CTL_DEL = 2;
export const EPOLL_CTL_MOD = 3;
