// Whether other programs listen on ports that instances could get.

const LOOPBACK = "127.0.0.1";

/**
 * The ports on which no program listens, at loopback and at the address of public instances. Only a trial can show it, and
 * a program may take a port right after it.
 */
export function freePorts(ports: readonly number[], bind: string): number[] {
  const addresses = new Set([LOOPBACK, bind]);
  return ports.filter((port) => [...addresses].every((address) => canListen(address, port)));
}

function canListen(hostname: string, port: number): boolean {
  try {
    Bun.listen({ hostname, port, exclusive: true, socket: { data() {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}
