// Ports of 127.0.0.1 for a test, apart from those of tests that run at the same time, and from those that the kernel gives to outgoing
// connections (ip_local_port_range begins at 32,768): a port of those may be gone when it is to be had again after a restart.

/** Where the ports of APIs, proxies and the like begin, and where those of instances do; there are ten thousand of each. */
const [FIRST, FIRST_OF_INSTANCES] = [10_000, 20_000];

/** How many ports this process has been given; the first is mostly another one than that of the process before. */
let given = process.pid;

/** A port that nobody listens on. */
export function freePort(): number {
  const [first, count] = ownPorts(FIRST);
  for (;;) {
    given += 1;
    const port = first + (given % count);
    if (isFree(port)) return port;
  }
}

/** The ports that a Pilvi gives to its instances, as `PILVI_PORT_RANGE` has it. */
export function instancePorts(): string {
  const [first, count] = ownPorts(FIRST_OF_INSTANCES);
  return `${first}-${first + count - 1}`;
}

/** Those of ten thousand ports that no other process takes. */
function ownPorts(base: number): [first: number, count: number] {
  const worker = process.env.PILVI_TEST_WORKER;
  // Run by hand, the number of the process has to do.
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
