// Measures how long no client is let in after a kill of the gateway, beside an HAProxy in front of the same engine that
// is started again as soon as its parent notices its end. The engine runs on meanwhile.
import { isAlive } from "../tests/support/pilvi/processes.ts";
import { runBench } from "./support/bench.ts";
import { firstAnswer } from "./support/clients.ts";
import { countOption } from "./support/options.ts";
import { gatewayPid } from "./support/pilvi-memory.ts";
import { startHaproxy } from "./support/proxies.ts";
import { printColumns, printTimes } from "./support/report.ts";
import { VALKEY_SLEEPER, type Sleepy } from "./support/sleepers.ts";
import { settle } from "./support/warmth.ts";
import type { Place } from "./support/wire.ts";

const ROUNDS = countOption(30);
const WARM_UP = 3;
/** A process that ends sooner counts as unable to start, and is started again later each time. */
const STEADY_MS = 1_000;

await runBench(`gateway-restart: SIGKILL to the next client's answer, ${ROUNDS} rounds`, async (bench) => {
  const { pilvi } = bench;
  const cache = await VALKEY_SLEEPER.create(pilvi);
  const proxy = await startHaproxy(bench, cache);
  const samples: Record<"bare" | "gateway", number[]> = { bare: [], gateway: [] };
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    await settle(pilvi, STEADY_MS);
    const bare = await timeOf(cache, { hostname: "127.0.0.1", port: proxy.port }, () => proxy.restart());
    await settle(pilvi);
    const gateway = await timeOf(cache, cache.place, () => kill(gatewayPid(pilvi)));
    if (round < 0) continue;
    samples.bare.push(bare);
    samples.gateway.push(gateway);
  }
  printColumns("median", "p99", "x median", "x p99");
  printTimes(`${proxy.name}, kill to the next answer (baseline)`, samples.bare);
  printTimes("gateway, kill to the next answer", samples.gateway, samples.bare);
});

/** @returns milliseconds from the kill to the first answer that a client gets. */
async function timeOf(sleepy: Sleepy, place: Place, end: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await end();
  return (await firstAnswer({ ...sleepy, place })) - startedAt;
}

/** A killed process may still answer for a moment. */
async function kill(pid: number): Promise<void> {
  process.kill(pid, "SIGKILL");
  while (isAlive(pid)) await Bun.sleep(0);
}
