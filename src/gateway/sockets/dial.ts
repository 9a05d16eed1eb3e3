// Connects sockets to engines and to the host, and sets the options of clients' sockets.
import {
  AF_UNIX,
  EAGAIN,
  errno,
  IPPROTO_TCP,
  memoryOf,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_STREAM,
  sockets,
  SOL_SOCKET,
} from "../../lib/socket-calls.ts";
import { unixName } from "../../lib/socket-names.ts";
import { streamHandlers, type SocketOwner } from "./handlers.ts";
import type { SocketPool } from "./socket-pool.ts";
import { SocketStream } from "./socket-stream.ts";

const STREAM_FLAGS = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
const SO_KEEPALIVE = 9;
const TCP_NODELAY = 1;
const TCP_KEEPIDLE = 4;
const TCP_KEEPINTVL = 5;
const TCP_KEEPCNT = 6;
const TCP_QUICKACK = 12;
const one = new Int32Array([1]);
/** Small messages at once, and a keepalive probe after a minute of silence, then one each 15 seconds, at most four. */
const OPTIONS: readonly [level: number, option: number, value: Int32Array][] = [
  [IPPROTO_TCP, TCP_NODELAY, one],
  [SOL_SOCKET, SO_KEEPALIVE, one],
  [IPPROTO_TCP, TCP_KEEPIDLE, new Int32Array([60])],
  [IPPROTO_TCP, TCP_KEEPINTVL, new Int32Array([15])],
  [IPPROTO_TCP, TCP_KEEPCNT, new Int32Array([4])],
];

/** The part of a socket with the address of the peer. */
interface Peer {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number;
}

/**
 * Connects to a unix socket without waiting. The runtime's own `connect` waits, and does not distinguish a full queue from an
 * engine that does not run.
 * @returns `later` when the queue of the unix socket is full.
 */
export function dial(pool: SocketPool, path: string): SocketStream | "later" | "refused" {
  const fd = sockets.socket(AF_UNIX, STREAM_FLAGS, 0);
  if (fd < 0) return "later";
  const name = unixName(path);
  if (sockets.connect(fd, memoryOf(name), name.length) === 0) return adopt(fd, new SocketStream(pool));
  const reason = errno();
  sockets.close(fd);
  return reason === EAGAIN ? "later" : "refused";
}

/** Gives a stream a connected socket, at once. */
export function adopt<Each extends SocketStream>(fd: number, stream: Each): Each {
  const data: SocketOwner = stream;
  // The runtime opens it before `connect` returns, so the promise says nothing new.
  void Bun.connect({ fd, data, allowHalfOpen: true, socket: streamHandlers }).catch(() => {
    sockets.close(fd);
    stream.gone();
  });
  return stream;
}

/** Has small messages sent at once, and vanished peers noticed within two minutes: they would keep an engine awake. */
export function tune(fd: number): void {
  for (const [level, option, value] of OPTIONS) sockets.setsockopt(fd, level, option, memoryOf(value), 4);
}

/**
 * Has the kernel acknowledge at once what has arrived (tcp(7)). A client that sends small messages together, without
 * TCP_NODELAY, would wait some 40 ms for that after its handshake, which the server does not answer.
 */
export function acknowledge(fd: number): void {
  sockets.setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, memoryOf(one), 4);
}

/** The text of the peer's address: `127.0.0.1:53312`, `[::1]:53312`; null when the peer has gone. */
export function peerText({ remoteAddress: address, remotePort: port }: Peer): string | null {
  if (address === undefined) return null;
  // An IPv4 client of a dual-stack socket (RFC 4291, section 2.5.5.2).
  const own = address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "");
  return `${own.includes(":") ? `[${own}]` : own}:${port}`;
}
