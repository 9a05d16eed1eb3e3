// The reach of an address: only clients of this machine, or of every machine.

interface Client {
  /** Address and port. */
  address: string;
}

/** @param peer address and port, such as `127.0.0.1:53312` or `[::1]:53312`. */
export function isLoopbackPeer(peer: string): boolean {
  return peer.startsWith("127.") || peer.startsWith("[::1]:");
}

/**
 * The clients that could not have connected to an address.
 * @param address where the gateway listens, without port or brackets.
 */
export function outOfReach<C extends Client>(clients: Iterable<C>, address: string): C[] {
  const isForThisMachine = address.startsWith("127.") || address === "::1";
  return isForThisMachine ? [...clients].filter((client) => !isLoopbackPeer(client.address)) : [];
}
