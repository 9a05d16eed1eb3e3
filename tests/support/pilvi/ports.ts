// Ports of 127.0.0.1 for a test, apart from the ports of parallel tests, and from the ports that the kernel gives to
// outgoing connections (ip_local_port_range begins at 32,768): the kernel may have taken such a port when a restart
// needs it again.

/**
 * The first ports of APIs, proxies and the like, and of instances; each range has ten thousand ports. A test that counts
 * listeners has ports of its own from 30,000 on.
 */
const [FIRST, FIRST_OF_INSTANCES] = [10_000, 20_000];

/** How many ports this process has been given; the first mostly differs from that of the process before. */
let given = process.pid;

/** A port without a listener. @throws Error when none can be had, as in a process without free descriptors. */
export function freePort(): number {
  const [first, count] = ownPorts(FIRST);
  for (let tries = 0; tries < count; tries++) {
    given += 1;
    const port = first + (given % count);
    if (isFree(port)) return port;
  }
  throw new Error(`none of the ${count} ports from ${first} on is free`);
}

/** The ports that a Pilvi gives to its instances, in the form of `PILVI_PORT_RANGE`. */
export function instancePorts(): string {
  const [first, count] = ownPorts(FIRST_OF_INSTANCES);
  return `${first}-${first + count - 1}`;
}

/** A share of ten thousand ports that no other process takes. */
function ownPorts(base: number): [first: number, count: number] {
  const worker = process.env.PILVI_TEST_WORKER;
  // In a run by hand, the process's own id selects the share.
  if (worker === undefined) return [base + (process.pid % 20) * 400, 400];
  return [base + 2_000 + Number(worker) * 1_900, 1_900];
}

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}
