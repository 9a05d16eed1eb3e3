// Asks the kernel whether a program of this machine listens at a port, without a turn of the event loop.
import {
  AF_INET,
  AF_INET6,
  memoryOf,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_STREAM,
  sockets,
} from "./socket-calls.ts";
import { inetName } from "./socket-names.ts";

/** `struct sockaddr_in`; an IPv6 address has a longer name. */
const IPV4_NAME_BYTES = 16;

/**
 * Whether a connection to a port at an address of this machine is accepted at once. The listener sees a connection
 * that ends without a byte. A busy machine may need another question. A refused connection costs a quarter of what it
 * costs through the event loop.
 */
export function isListening(address: string, port: number): boolean {
  const name = inetName(address, port);
  const family = name.length === IPV4_NAME_BYTES ? AF_INET : AF_INET6;
  const fd = sockets.socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  try {
    // On one machine the handshake is usually over when the first call returns, and the second says how it ended.
    const connect = () => sockets.connect(fd, memoryOf(name), name.length) === 0;
    return connect() || connect();
  } finally {
    sockets.close(fd);
  }
}
