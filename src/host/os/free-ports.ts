// Whether programs that are none of the host's listen on ports that instances could get.

const LOOPBACK = "127.0.0.1";

/**
 * Which of the ports nothing listens on, at loopback and at the address of public instances. Trying is the only way to know;
 * a program may take one right after.
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
