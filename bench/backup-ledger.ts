// Counts acknowledged writes that restores lack, and writes that they have too early, after random kills of engines, host,
// keeper, gateway and control plane. `PILVI_SOAK_SEED` repeats a run.
import { BackupLedger } from "../tests/crash/backup-ledger.ts";
import { runBench } from "./support/bench.ts";
import { countOption } from "./support/options.ts";
import { printColumns, printRow, printTarget } from "./support/report.ts";

const KILLS = countOption(300);
const INSTANTS = 5;
const SEED = Number(process.env.PILVI_SOAK_SEED ?? Date.now() % 2 ** 31);

await runBench(`backup-ledger: restores after ${KILLS} kills, seed ${SEED}`, async ({ pilvi }) => {
  const ledger = new BackupLedger(pilvi, { seed: SEED, kills: KILLS, instants: INSTANTS });
  const restored = await ledger.run();
  const killed = Object.entries(ledger.killed).map(([target, count]) => `${target} ${count}`);
  console.log(`killed: ${killed.join(", ")}\n`);
  printColumns("written", "lost", "too early");
  for (const { type, at, acknowledged, lost, invented } of restored)
    printRow(`${type} at ${at}`, ...[acknowledged, lost.length, invented.length].map(String));
  const wrong = restored.reduce((sum, { lost, invented }) => sum + lost.length + invented.length, 0);
  printTarget("writes lost or too early", wrong, 0, String);
});
