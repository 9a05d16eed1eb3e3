// The system calls of the gateway's loop: the socket calls shared with the host, and the loop's own calls.
import { dlopen, FFIType } from "bun:ffi";
import { sockets } from "../../lib/socket-calls.ts";

export {
  AF_INET,
  AF_UNIX,
  EAGAIN,
  EINTR,
  errno,
  IPPROTO_TCP,
  memoryOf as addressOf,
  MSG_NOSIGNAL,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_STREAM,
  SOL_SOCKET,
} from "../../lib/socket-calls.ts";

const { i32, u64_fast: size } = FFIType;

const { symbols } = dlopen("libc.so.6", {
  recv: { args: [i32, FFIType.ptr, size, i32], returns: i32 },
  send: { args: [i32, FFIType.ptr, size, i32], returns: i32 },
  sched_setscheduler: { args: [i32, i32, FFIType.ptr], returns: i32 },
  ioctl: { args: [i32, size, FFIType.ptr], returns: i32 },
  epoll_create1: { args: [i32], returns: i32 },
  epoll_ctl: { args: [i32, i32, i32, FFIType.ptr], returns: i32 },
  epoll_wait: { args: [i32, FFIType.ptr, i32, i32], returns: i32 },
});

/** The calls as they are; each returns -1 when it failed, and `errno()` says why. */
export const libc = { ...sockets, ...symbols };

// The numbers below are those of Linux on x86-64 and arm64 alike (asm-generic).
export const ECONNABORTED = 103;

export const SO_KEEPALIVE = 9;
export const TCP_NODELAY = 1;
export const TCP_KEEPIDLE = 4;
export const TCP_KEEPINTVL = 5;
export const TCP_KEEPCNT = 6;

export const MSG_PEEK = 2;
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
