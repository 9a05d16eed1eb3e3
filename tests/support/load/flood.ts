// Floods of connections from processes of their own, which do not use the descriptors of the test.
import { resolve } from "node:path";
import type { FloodOrder } from "./flooder.ts";

const PROGRAM = resolve(import.meta.dir, "flooder.ts");
/** A process uses some descriptors for itself, where the limit may be 20,000. */
const MOST_PER_PROCESS = 10_000;
const HOSTS_PER_PROCESS = 2;

/** The result of a flood. */
export interface FloodFigures {
  /** Connections that were open at the end. */
  held: number;
  /** All connections that were opened. */
  opened: number;
}

/** A flood of connections. */
export interface Flood {
  port: number;
  count: number;
  /** The bytes that each connection sends. */
  words: Uint8Array;
  /** Whether it takes only processor time that no other program wants. */
  isModest?: boolean;
}

/** Holds so many connections to a port while an action runs. */
export async function besideFlood(
  { port, count, words, isModest = false }: Flood,
  action: () => Promise<unknown>,
): Promise<FloodFigures> {
  const processes = Math.ceil(count / MOST_PER_PROCESS);
  const flooders = Array.from({ length: processes }, (_, index) =>
    start({
      port,
      count: Math.ceil(count / processes),
      hosts: Array.from({ length: HOSTS_PER_PROCESS }, (__, host) => 2 + index * HOSTS_PER_PROCESS + host),
      words: Buffer.from(words).toString("base64"),
      isModest,
    }),
  );
  try {
    await Promise.all(flooders.map(({ begun }) => begun));
    await action();
  } finally {
    for (const { child } of flooders) child.kill("SIGTERM");
  }
  const figures = await Promise.all(flooders.map(async ({ said }) => JSON.parse(await said) as FloodFigures));
  return {
    held: figures.reduce((sum, { held }) => sum + held, 0),
    opened: figures.reduce((sum, { opened }) => sum + opened, 0),
  };
}

/** `begun` resolves when all connections were tried once, `said` with its output at its end. */
function start(order: FloodOrder) {
  const child = Bun.spawn([process.execPath, PROGRAM, JSON.stringify(order)], {
    env: { PATH: process.env.PATH ?? "" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const begun = Promise.withResolvers<void>();
  const receive = async (): Promise<string> => {
    let said = "";
    for await (const bytes of child.stdout) {
      said += new TextDecoder().decode(bytes);
      begun.resolve();
    }
    begun.resolve();
    return said;
  };
  return { child, begun: begun.promise, said: receive() };
}
