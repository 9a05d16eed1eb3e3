// Measures the wake of sleeping applications: a request sent to its answer through the edge, beside the bare start of the
// same program to its first answer.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { loadConfig } from "../src/config.ts";
import { localDriver } from "../src/drivers/local/index.ts";
import { DEFAULT_NODE, ensureNode } from "../src/engines/runtimes/node.ts";
import { hostSocket } from "../src/host/os/layout.ts";
import { createLog } from "../src/lib/log.ts";
import { bunServer, type Files, TestApplication } from "../tests/support/pilvi/applications.ts";
import { freePort } from "../tests/support/pilvi/ports.ts";
import { until } from "../tests/support/pilvi/pilvi.ts";
import { BarePhp, PHP_FILES } from "./support/bare-php.ts";
import { runBench } from "./support/bench.ts";
import { countOption } from "./support/options.ts";
import { printColumns, printTarget, printTimes, times } from "./support/report.ts";
import { median } from "./support/statistics.ts";

const ROUNDS = countOption(30);
/** A wake may take as many times the bare start, and these milliseconds more. */
const TARGET = { ratio: 1.3, extraMs: 20 };

await runBench("application-wake: request sent to its answer", async ({ pilvi, atEnd }) => {
  const home = await ensureNode(DEFAULT_NODE, loadConfig(process.env).enginesDir, process.execPath);
  const driver = localDriver(hostSocket(pilvi.dataDir), { log: createLog("bench", "error") });
  const php = await BarePhp.prepare();
  atEnd(() => php.remove());
  const programs: Record<string, { files: Files; begin: (port: number, folder: string) => Bun.Subprocess }> =
    {
      Node: { files: nodeServer(), begin: server([join(home, "bin", "node"), "server.js"]) },
      Bun: { files: bunServer("hello"), begin: server([process.execPath, "server.ts"]) },
      PHP: { files: PHP_FILES, begin: (port, folder) => php.begin(port, folder) },
    };
  printColumns("median", "p99", "x median", "x p99");
  for (const [name, { files, begin }] of Object.entries(programs)) {
    const folder = mkdtempSync(join(tmpdir(), "pilvi-wake-"));
    atEnd(() => rmSync(folder, { recursive: true, force: true }));
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    chmodSync(folder, 0o755);
    const application = await TestApplication.create(pilvi, `Sleeper on ${name}`);
    await application.deploy(files);
    const url = `http://127.0.0.1:${pilvi.env.PILVI_EDGE_HTTP}/`;
    const { attributes, id } = await application.environment();
    const instance = (await driver.routes()).find((route) => route.id === id)?.instances[0] ?? "";
    const bareMs: number[] = [];
    const wakeMs: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      bareMs.push(await bareStart((port) => begin(port, folder)));
      await driver.suspend(instance);
      await until("it sleeps", async () => (await driver.observe(instance)).state === "asleep");
      const startedAt = performance.now();
      await (await fetch(url, { headers: { host: attributes.vanity_domain } })).text();
      wakeMs.push(performance.now() - startedAt);
    }
    printTimes(`${name}: bare start to the first answer (baseline)`, bareMs);
    printTimes(`${name}: request sent to the answer of a sleeper`, wakeMs, bareMs);
    const ratio = (median(wakeMs) - TARGET.extraMs) / median(bareMs);
    printTarget(`${name}, without ${TARGET.extraMs} ms`, ratio, TARGET.ratio, times);
  }
});

function nodeServer(): Files {
  return {
    "package.json": JSON.stringify({ name: "sleeper", private: true, scripts: { start: "node server.js" } }),
    "server.js": `require("http").createServer((_, answer) => answer.end("hello")).listen(process.env.PORT, "127.0.0.1");`,
  };
}

function server(words: string[]) {
  return (port: number, folder: string) =>
    Bun.spawn(words, { cwd: folder, env: { PORT: String(port) }, stdio: ["ignore", "ignore", "ignore"] });
}

async function bareStart(begin: (port: number) => Bun.Subprocess): Promise<number> {
  const port = freePort();
  const startedAt = performance.now();
  const program = begin(port);
  try {
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => null);
      if (answer !== null) return performance.now() - startedAt;
      await Bun.sleep(1);
    }
  } finally {
    program.kill("SIGTERM");
    await program.exited;
  }
}
