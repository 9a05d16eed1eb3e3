// Makes sockets: those that listen for clients, and those that lead to engines.
import { isIPv6 } from "node:net";
import { socketAddress } from "../../lib/unix-socket.ts";
import {
  addressOf,
  AF_INET,
  AF_INET6,
  AF_UNIX,
  EADDRINUSE,
  EAGAIN,
  errno,
  IPPROTO_IPV6,
  IPPROTO_TCP,
  IPV6_V6ONLY,
  libc,
  SO_KEEPALIVE,
  SO_REUSEADDR,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_STREAM,
  SOL_SOCKET,
  TCP_KEEPCNT,
  TCP_KEEPIDLE,
  TCP_KEEPINTVL,
  TCP_NODELAY,
} from "./libc.ts";

/** Connections that wait to be accepted; the kernel has a limit of its own beside it. */
const BACKLOG = 4_096;
const STREAM_FLAGS = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

const one = new Int32Array([1]);
const oneAddress = addressOf(one);

/** The first question after a minute of silence, then four at most, in seconds and as a count. */
const KEEPALIVE: readonly [option: number, value: Int32Array][] = [
  [TCP_KEEPIDLE, new Int32Array([60])],
  [TCP_KEEPINTVL, new Int32Array([15])],
  [TCP_KEEPCNT, new Int32Array([4])],
];

/**
 * A socket that listens on an address and port.
 * @throws Error with a sentence for people when it cannot.
 */
export function listenOn(address: string, port: number): number {
  const isSix = isIPv6(address);
  const fd = libc.socket(isSix ? AF_INET6 : AF_INET, STREAM_FLAGS, 0);
  if (fd < 0) throw new Error(`a socket could not be made (${errno()})`);
  libc.setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, oneAddress, 4);
  // The address `::` is for IPv4 as well.
  if (isSix && address !== "::") libc.setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, oneAddress, 4);
  const name = isSix ? inet6(address, port) : inet(address, port);
  if (libc.bind(fd, addressOf(name), name.length) === 0 && libc.listen(fd, BACKLOG) === 0) return fd;
  const reason = errno();
  libc.close(fd);
  throw new Error(
    reason === EADDRINUSE
      ? `Port ${port} is in use by another program on this machine.`
      : `The gateway cannot listen on ${address}:${port} (${reason}).`,
  );
}

/** How a connection to a unix socket came out; `later` when its queue is full. */
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

/** Small messages are sent at once, and peers that vanish are noticed within two minutes, or they would keep an engine awake. */
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
  // An IPv4 client of a socket for both (RFC 4291, section 2.5.5.2).
  if (bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255) {
    return `${bytes.subarray(12).join(".")}:${port}`;
  }
  const groups = Array.from({ length: 8 }, (_, index) => view.getUint16(8 + index * 2).toString(16));
  return `${new URL(`http://[${groups.join(":")}]`).hostname}:${port}`;
}

/** `struct sockaddr_in`. */
export function inet(address: string, port: number): Uint8Array {
  const name = new Uint8Array(16);
  new DataView(name.buffer).setUint16(0, AF_INET, true);
  new DataView(name.buffer).setUint16(2, port);
  name.set(address.split(".").map(Number), 4);
  return name;
}

/** `struct sockaddr_in6`. */
export function inet6(address: string, port: number): Uint8Array {
  const name = new Uint8Array(28);
  const view = new DataView(name.buffer);
  view.setUint16(0, AF_INET6, true);
  view.setUint16(2, port);
  for (const [index, group] of groupsOf(address).entries()) view.setUint16(8 + index * 2, group);
  return name;
}

/** The eight groups of an IPv6 address, of which it may leave out a run of zeros. */
function groupsOf(address: string): number[] {
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = "", tail] = text.split("::");
  const [before, after] = [groupsIn(head), groupsIn(tail ?? "")];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function groupsIn(part: string): number[] {
  return part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
}

function unixName(path: string): Uint8Array {
  const text = new TextEncoder().encode(socketAddress(path));
  const name = new Uint8Array(2 + text.length + 1);
  new DataView(name.buffer).setUint16(0, AF_UNIX, true);
  name.set(text, 2);
  return name;
}
