// System calls on bare sockets, for peers that a test controls.
import { dlopen, FFIType } from "bun:ffi";
import { sockets } from "../../../src/lib/socket-calls.ts";

export {
  AF_INET,
  AF_UNIX,
  EAGAIN,
  errno,
  memoryOf as addressOf,
  MSG_NOSIGNAL,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_STREAM,
  SOL_SOCKET,
} from "../../../src/lib/socket-calls.ts";

const { i32, u64_fast: size } = FFIType;

const { symbols } = dlopen("libc.so.6", {
  recv: { args: [i32, FFIType.ptr, size, i32], returns: i32 },
  send: { args: [i32, FFIType.ptr, size, i32], returns: i32 },
  ioctl: { args: [i32, size, FFIType.ptr], returns: i32 },
});

/** The calls as they are; each returns -1 when it failed, and `errno()` says why. */
export const libc = { ...sockets, ...symbols };

export const MSG_PEEK = 2;
export const SHUT_WR = 1;
