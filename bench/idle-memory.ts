// Measures the memory of an idle Pilvi beside an empty Bun, and of idle caches beside bare engines with the same files.
import type { TestPilvi } from "../tests/support/pilvi/pilvi.ts";
import { BareEngine } from "./support/bare-engine.ts";
import { runBench, type Bench } from "./support/bench.ts";
import { firstPong } from "./support/first-pong.ts";
import { childrenOf, growth, memoryOf, type Memory } from "./support/memory.ts";
import { gatewayPid } from "./support/pilvi-memory.ts";
import { megabytes, printColumns, printRow } from "./support/report.ts";

const CACHES = 20;
/** By then the garbage of a start or a create is collected. */
const SETTLE_MS = 10_000;

await runBench(
  `idle-memory: PSS, RSS and private memory, ${SETTLE_MS / 1_000} s after the last request`,
  async (bench) => {
    const { pilvi } = bench;
    await Bun.sleep(SETTLE_MS);
    const emptyBun = await memoryOfEmptyBun(pilvi);
    const fresh = processesOf(pilvi);
    const before = memoryOf(allOf(fresh));
    printColumns("PSS", "RSS", "private");
    printMemory("empty Bun process (baseline)", emptyBun);
    for (const [name, pids] of Object.entries(fresh)) printMemory(name, memoryOf(pids));
    printMemory("Pilvi without caches, all of the above", before);
    await measureCaches(bench, before);
  },
);

async function measureCaches({ pilvi, atEnd }: Bench, before: Memory): Promise<void> {
  const caches = await Promise.all(Array.from({ length: CACHES }, () => pilvi.createCache()));
  const bare: BareEngine[] = [];
  atEnd(async () => void (await Promise.all(bare.map((engine) => engine.kill()))));
  for (const cache of caches) {
    const engine = await BareEngine.like(pilvi, cache);
    bare.push(engine);
    engine.prepare();
    engine.spawn();
    await firstPong(engine.address);
  }
  await Bun.sleep(SETTLE_MS);
  const bareMemory = memoryOf(bare.map((engine) => engine.pid));
  const engines = memoryOf(caches.flatMap(({ id }) => pilvi.enginePids(id)));
  const after = memoryOf(allOf(processesOf(pilvi)));
  const none: Memory = { rss: 0, pss: 0, own: 0 };
  console.log("");
  printMemory(`bare engine, mean of ${CACHES} (baseline)`, growth(none, bareMemory, CACHES));
  printMemory(`engine of an idle cache, mean of ${CACHES}`, growth(none, engines, CACHES));
  printMemory(`growth of Pilvi's processes for each of ${CACHES} caches`, growth(before, after, CACHES));
}

/** The pids of Pilvi's own processes, by name; the store is a Postgres with a process for each connection. */
function processesOf(pilvi: TestPilvi): Record<"up" | "control" | "host" | "gateway" | "store", number[]> {
  const control = pilvi.pidOf("control");
  const host = pilvi.pidOf("host");
  const store = pilvi.enginePids("store");
  if (control === undefined || host === undefined || store.length === 0)
    throw new Error("Pilvi does not run");
  return {
    up: [pilvi.pid],
    control: [control],
    host: [host],
    gateway: [gatewayPid(pilvi)],
    store: [...new Set(store.concat(store.flatMap(childrenOf)))],
  };
}

/** The same program file that Pilvi runs, so that both share its pages. */
async function memoryOfEmptyBun(pilvi: TestPilvi): Promise<Memory> {
  const child = Bun.spawn([process.execPath, "-e", "setInterval(() => {}, 1e9)"], {
    cwd: pilvi.dataDir,
    stdio: ["ignore", "ignore", "inherit"],
  });
  await Bun.sleep(1_000);
  const memory = memoryOf([child.pid]);
  child.kill();
  await child.exited;
  return memory;
}

function allOf(processes: Record<string, number[]>): number[] {
  return Object.values(processes).flat();
}

function printMemory(label: string, { pss, rss, own }: Memory): void {
  printRow(label, megabytes(pss), megabytes(rss), megabytes(own));
}
