// Connects sockets to engines, and sets the options of clients' sockets.
import { unixName } from "../../lib/socket-names.ts";
import {
  addressOf,
  AF_INET,
  AF_UNIX,
  EAGAIN,
  errno,
  IPPROTO_TCP,
  libc,
  SO_KEEPALIVE,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_STREAM,
  SOL_SOCKET,
  TCP_KEEPCNT,
  TCP_KEEPIDLE,
  TCP_KEEPINTVL,
  TCP_NODELAY,
} from "./libc.ts";

const STREAM_FLAGS = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

const one = new Int32Array([1]);
const oneAddress = addressOf(one);

/** A keepalive probe after a minute of silence, then one each 15 seconds, at most four; in seconds and as a count. */
const KEEPALIVE: readonly [option: number, value: Int32Array][] = [
  [TCP_KEEPIDLE, new Int32Array([60])],
  [TCP_KEEPINTVL, new Int32Array([15])],
  [TCP_KEEPCNT, new Int32Array([4])],
];

/** The result of a connection attempt; `later` when the queue of the unix socket is full. */
export type Dialled = { fd: number } | "later" | "refused";

/** Connects to a unix socket without waiting. */
export function dial(path: string): Dialled {
  const fd = libc.socket(AF_UNIX, STREAM_FLAGS, 0);
  if (fd < 0) return "later";
  const name = unixName(path);
  if (libc.connect(fd, addressOf(name), name.length) === 0) return { fd };
  const reason = errno();
  libc.close(fd);
  return reason === EAGAIN ? "later" : "refused";
}

/** Has small messages sent at once, and vanished peers noticed within two minutes: they would keep an engine awake. */
export function tune(fd: number): void {
  libc.setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, oneAddress, 4);
  libc.setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, oneAddress, 4);
  for (const [option, value] of KEEPALIVE) libc.setsockopt(fd, IPPROTO_TCP, option, addressOf(value), 4);
}

/** The text of a socket address such as `accept` gives: `127.0.0.1:53312`, `[::1]:53312`. */
export function peerText(name: Uint8Array): string {
  const view = new DataView(name.buffer, name.byteOffset);
  const port = view.getUint16(2);
  if (view.getUint16(0, true) === AF_INET) return `${name.subarray(4, 8).join(".")}:${port}`;
  const bytes = name.subarray(8, 24);
  // An IPv4 client of a dual-stack socket (RFC 4291, section 2.5.5.2).
  if (bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255) {
    return `${bytes.subarray(12).join(".")}:${port}`;
  }
  const groups = Array.from({ length: 8 }, (_, index) => view.getUint16(8 + index * 2).toString(16));
  return `${new URL(`http://[${groups.join(":")}]`).hostname}:${port}`;
}
