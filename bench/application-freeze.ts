// Measures what it would bring to freeze an idle application before it is stopped: what the application takes while it is
// idle and while it is frozen, and the answer to the request that ends each state.
import { localDriver } from "../src/drivers/local/index.ts";
import { hostSocket } from "../src/host/os/layout.ts";
import { createLog } from "../src/lib/log.ts";
import { type Files, TestApplication } from "../tests/support/pilvi/applications.ts";
import { processesOf } from "../tests/support/pilvi/databases.ts";
import { until } from "../tests/support/pilvi/pilvi.ts";
import { runBench } from "./support/bench.ts";
import { cpuNs } from "./support/cpu.ts";
import { memoryOf } from "./support/memory.ts";
import { countOption } from "./support/options.ts";
import { megabytes, printColumns, printRow, printTimes } from "./support/report.ts";

const ROUNDS = countOption(20);
const IDLE_SECONDS = 20;

const FILES: Files = {
  "package.json": JSON.stringify({ name: "idler", private: true, scripts: { start: "node server.js" } }),
  "server.js": `require("http").createServer((_, answer) => answer.end("hello")).listen(process.env.PORT, "127.0.0.1");`,
};

await runBench(
  "application-freeze: an idle Node application, and the request that wakes it",
  async ({ pilvi }) => {
    const driver = localDriver(hostSocket(pilvi.dataDir), { log: createLog("bench", "error") });
    const application = await TestApplication.create(pilvi, "Idler");
    await application.deploy(FILES);
    const instance =
      (await driver.routes()).find(({ id }) => id === application.environmentId)?.instances[0] ?? "";
    const answered = async () => {
      const startedAt = performance.now();
      await application.text();
      return performance.now() - startedAt;
    };
    const pids = () => processesOf(pilvi, instance);
    const signal = (name: NodeJS.Signals) => pids().forEach((pid) => process.kill(pid, name));

    await answered();
    const beganAt = pids().map(cpuNs);
    await Bun.sleep(IDLE_SECONDS * 1_000);
    const idleNs = pids().reduce((sum, pid, index) => sum + cpuNs(pid) - (beganAt[index] ?? 0), 0);
    const idle = memoryOf(pids());
    signal("SIGSTOP");
    const frozen = memoryOf(pids());
    signal("SIGCONT");

    const times: Record<"awake" | "frozen" | "asleep", number[]> = { awake: [], frozen: [], asleep: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      times.awake.push(await answered());
      signal("SIGSTOP");
      const startedAt = performance.now();
      signal("SIGCONT");
      await answered();
      times.frozen.push(performance.now() - startedAt);
      await driver.suspend(instance);
      await until("it sleeps", async () => (await driver.observe(instance)).state === "asleep");
      times.asleep.push(await answered());
    }
    printColumns("memory", "processor");
    printRow("idle", megabytes(idle.pss), `${(idleNs / IDLE_SECONDS / 10_000_000).toFixed(3)} %`);
    printRow("frozen", megabytes(frozen.pss), "0 %");
    printRow("asleep", megabytes(0), "0 %");
    printColumns("median", "p99", "x median", "x p99");
    printTimes("answer of an idle application (baseline)", times.awake);
    printTimes("answer of a frozen application", times.frozen, times.awake);
    printTimes("answer of a sleeping application", times.asleep, times.awake);
  },
);
