// Measures how long no client is let in after a kill of a WebSocket cluster's process, beside a bare WebSocket server
// on the same runtime that is started again as soon as its parent notices its end.
import { join } from "node:path";
import { handshakeOf } from "../tests/support/wire/raw-websocket.ts";
import { isAlive } from "../tests/support/pilvi/processes.ts";
import { createServer, type TestServer } from "../tests/support/pilvi/websockets.ts";
import { processesOf } from "../tests/support/pilvi/databases.ts";
import type { TestPilvi } from "../tests/support/pilvi/pilvi.ts";
import { runBench, type Bench } from "./support/bench.ts";
import { countOption } from "./support/options.ts";
import { printColumns, printTimes } from "./support/report.ts";
import { settle } from "./support/warmth.ts";
import { Wire } from "./support/wire.ts";

const ROUNDS = countOption(30);
const WARM_UP = 3;
/** A process that ends sooner counts as crashing again and again, and is started again later each time. */
const STEADY_MS = 1_100;
const RETRY_MS = 1;
const GIVE_UP_MS = 30_000;

await runBench(
  `realtime-restart: SIGKILL to the next client's connection_established, ${ROUNDS} rounds`,
  async (bench) => {
    const { pilvi } = bench;
    const server = await createServer(pilvi);
    const bare = new BareServer(bench);
    const samples: Record<"bare" | "realtime", number[]> = { bare: [], realtime: [] };
    await bare.start();
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      await settle(pilvi, STEADY_MS);
      const ofBare = await bare.restart();
      const ofRealtime = await killRealtime(pilvi, server);
      if (round < 0) continue;
      samples.bare.push(ofBare);
      samples.realtime.push(ofRealtime);
    }
    printColumns("median", "p99", "x median", "x p99");
    printTimes("bare server on Bun, kill to the next greeting (baseline)", samples.bare);
    printTimes("cluster's process, kill to connection_established", samples.realtime, samples.bare);
  },
);

/** @returns milliseconds from the kill to the first greeting that a client gets. */
async function killRealtime(pilvi: TestPilvi, { id, server, main }: TestServer): Promise<number> {
  const [pid] = processesOf(pilvi, id);
  if (pid === undefined) throw new Error(`${id} has no process`);
  const startedAt = performance.now();
  process.kill(pid, "SIGKILL");
  // A killed process may still answer for a moment.
  while (isAlive(pid)) await Bun.sleep(0);
  const path = `/app/${main.attributes.key}?protocol=7&client=bench&version=1.0`;
  await greeting(Number(new URL(server.meta.url).port), path);
  return performance.now() - startedAt;
}

/** Connects again and again until a server greets. */
async function greeting(port: number, path: string): Promise<void> {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  while (!(await isGreeted(port, path))) {
    if (performance.now() > giveUpAt) throw new Error(`nobody greets on port ${port}`);
    await Bun.sleep(RETRY_MS);
  }
}

async function isGreeted(port: number, path: string): Promise<boolean> {
  let wire: Wire | undefined;
  try {
    wire = await Wire.open({ hostname: "127.0.0.1", port });
    wire.write(handshakeOf(path));
    await wire.readThrough("pusher:connection_established");
    return true;
  } catch {
    // No server listens there yet, or it does not know its applications yet.
    return false;
  } finally {
    wire?.close();
  }
}

/** A server in a process of its own that only greets its clients. */
class BareServer {
  readonly #bench: Bench;
  #process: Bun.Subprocess<"ignore", "pipe", "inherit"> | undefined;

  constructor(bench: Bench) {
    this.#bench = bench;
    bench.atEnd(() => this.#kill());
  }

  async start(): Promise<void> {
    const program = join(import.meta.dir, "support", "greeting-server.ts");
    const child = Bun.spawn([process.execPath, program], {
      // This folder identifies it when the measurement's own process is killed.
      cwd: this.#bench.pilvi.dataDir,
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#process = child;
    for await (const chunk of child.stdout)
      return await greeting(Number(new TextDecoder().decode(chunk)), "/");
    throw new Error("the bare server does not start");
  }

  /** @returns milliseconds from the kill to the greeting of the next process. */
  async restart(): Promise<number> {
    const startedAt = performance.now();
    await this.#kill();
    await this.start();
    return performance.now() - startedAt;
  }

  async #kill(): Promise<void> {
    this.#process?.kill("SIGKILL");
    await this.#process?.exited;
  }
}
