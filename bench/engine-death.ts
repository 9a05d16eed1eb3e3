// Measures the death of an engine: when its status is taken back, and when the cache answers again, beside a bare
// engine that is started again as soon as its parent notices its end.
import type { CacheResource } from "../src/resources/caches/schema.ts";
import type { CacheDocument, TestPilvi } from "../tests/support/pilvi/pilvi.ts";
import { BareEngine } from "./support/bare-engine.ts";
import { runBench } from "./support/bench.ts";
import { addressOf } from "./support/caches.ts";
import { firstPong } from "./support/first-pong.ts";
import { milliseconds, printColumns, printTarget, printTimes } from "./support/report.ts";
import { percentile } from "./support/statistics.ts";

/** Killed in turn, so that each engine has run long enough not to count as crashing again and again. */
const CACHES = 10;
const ROUNDS = 100;
/** Rounds at the start that do not count. */
const WARM_UP = 10;
const BETWEEN_ROUNDS_MS = 150;
const TARGET_MS = 100;

await runBench(`engine-death: SIGKILL of an engine, ${ROUNDS} rounds`, async ({ pilvi, atEnd }) => {
  const caches = await Promise.all(Array.from({ length: CACHES }, () => pilvi.createCache()));
  const [model] = caches;
  if (model === undefined) throw new Error("there is no cache");
  const bare = await BareEngine.like(pilvi, model);
  atEnd(() => bare.kill());
  bare.prepare();
  bare.spawn();
  await firstPong(bare.address);
  const bareMs: number[] = [];
  const deaths: Death[] = [];
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    await Bun.sleep(BETWEEN_ROUNDS_MS);
    const ofBare = await restartBare(bare);
    const death = await killEngine(pilvi, caches[(round + WARM_UP) % CACHES] ?? model);
    if (round < 0) continue;
    bareMs.push(ofBare);
    deaths.push(death);
  }
  report(bareMs, deaths);
});

/** Milliseconds since the kill. */
interface Death {
  /** When a client that polls the status first saw another status than `available`. */
  takenBack: number | undefined;
  answering: number;
  /** When that client first saw `available` after that. */
  availableAgain: number | undefined;
}

async function restartBare(bare: BareEngine): Promise<number> {
  const startedAt = performance.now();
  const { exited } = bare;
  process.kill(bare.pid, "SIGKILL");
  await exited;
  bare.spawn();
  return (await firstPong(bare.address)) - startedAt;
}

async function killEngine(pilvi: TestPilvi, cache: CacheResource): Promise<Death> {
  const [pid] = pilvi.enginePids(cache.id);
  if (pid === undefined) throw new Error(`${cache.id} has no engine`);
  const startedAt = performance.now();
  process.kill(pid, "SIGKILL");
  const [shown, answeringAt] = await Promise.all([
    watchStatus(pilvi, cache.id, startedAt),
    untilDead(pid).then(() => firstPong(addressOf(cache))),
  ]);
  return { ...shown, answering: answeringAt - startedAt };
}

/**
 * Polls until the status was taken back and given again; gives up when it was not taken back for so long that it never
 * will be.
 */
async function watchStatus(
  pilvi: TestPilvi,
  id: string,
  startedAt: number,
): Promise<Pick<Death, "takenBack" | "availableAgain">> {
  let takenBack: number | undefined;
  for (;;) {
    const { body } = await pilvi.api<CacheDocument>("GET", `/caches/${id}`);
    const ms = performance.now() - startedAt;
    const isAvailable = body.data.attributes.status === "available";
    if (!isAvailable) takenBack ??= ms;
    if (isAvailable && takenBack !== undefined) return { takenBack, availableAgain: ms };
    if (takenBack === undefined && ms > 5 * TARGET_MS) return { takenBack, availableAgain: undefined };
  }
}

/** A killed process still answers for a moment; its connections end before its parent notices its end. */
async function untilDead(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await Bun.sleep(0);
  }
}

function report(bareMs: number[], deaths: Death[]): void {
  const takenBack = deaths.flatMap((death) => death.takenBack ?? []);
  const availableAgain = deaths.flatMap((death) => death.availableAgain ?? []);
  printColumns("median", "p99", "x median", "x p99");
  printTimes("bare valkey-server, kill to PONG of the next (baseline)", bareMs);
  printTimes(
    "kill to PONG",
    deaths.map((death) => death.answering),
    bareMs,
  );
  if (takenBack.length > 0) {
    printTimes(
      `kill to status taken back, seen in ${takenBack.length} of ${deaths.length}`,
      takenBack,
      bareMs,
    );
    printTimes("kill to status available again", availableAgain, bareMs);
  }
  console.log("");
  printTarget(
    "kill to status taken back, p99",
    takenBack.length > 0 ? percentile(takenBack, 99) : Infinity,
    TARGET_MS,
    milliseconds,
  );
}
