// Measures `deploy`: an upload of a small Node application sent to the first answer of its new release through the edge,
// beside the same install, and the same start, by hand with the same programs. Rollbacks are measured beside the start.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../src/config.ts";
import { DEFAULT_NODE, ensureNode } from "../src/engines/runtimes/node.ts";
import { packed } from "../tests/support/applications/registry.ts";
import { type Files, TestApplication } from "../tests/support/pilvi/applications.ts";
import { freePort } from "../tests/support/pilvi/ports.ts";
import { runBench } from "./support/bench.ts";
import { countOption } from "./support/options.ts";
import { printColumns, printTarget, printTimes, times } from "./support/report.ts";
import { median } from "./support/statistics.ts";

const ROUNDS = countOption(10);
/** A deployment may take as many times what is done by hand, and a rollback as many milliseconds. */
const TARGETS = { ratio: 1.5, rollbackMs: 1_000 };
const ms = packed("ms");

await runBench("deploy: upload sent to the first answer of the release", async ({ pilvi, atEnd }) => {
  const folder = mkdtempSync(join(tmpdir(), "pilvi-deploy-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const home = await ensureNode(DEFAULT_NODE, loadConfig(process.env).enginesDir, process.execPath);
  const application = await TestApplication.create(pilvi);
  const { id: firstId } = await application.deploy(filesOf("warm-up"));
  const handMs: number[] = [];
  const deployMs: number[] = [];
  const rollbackMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    handMs.push(await byHand(folder, home, filesOf(`hand-${round}`)));
    deployMs.push(await elapsedMs(() => deployed(application, `round-${round}`)));
    rollbackMs.push(
      await elapsedMs(async () => {
        await application.rollBack(firstId);
        await answers(() => application.text(), "warm-up");
      }),
    );
  }
  printColumns("median", "p99", "x median", "x p99");
  printTimes("npm install and node, by hand (baseline)", handMs);
  printTimes("upload sent to the answer through the edge", deployMs, handMs);
  printTimes("rollback sent to the answer through the edge", rollbackMs);
  printTarget("deployment", median(deployMs) / median(handMs), TARGETS.ratio, times);
  printTarget("rollback, in milliseconds", median(rollbackMs), TARGETS.rollbackMs, (value) =>
    value.toFixed(0),
  );
});

async function deployed(application: TestApplication, text: string): Promise<void> {
  const { attributes } = await application.deploy(filesOf(text));
  if (attributes.status !== "deployment.succeeded") throw new Error(attributes.failure_reason ?? "it failed");
  await answers(() => application.text(), text);
}

/** An application with a packed dependency: a build reaches no registry that is a program of this machine. */
function filesOf(text: string): Files {
  return {
    "ms.tgz": ms.tarball,
    "package.json": JSON.stringify({
      name: "shop",
      private: true,
      scripts: { start: "node server.js" },
      dependencies: { ms: "file:ms.tgz" },
    }),
    "server.js": `require("ms"); require("http").createServer((_, answer) => answer.end(${JSON.stringify(text)})).listen(process.env.PORT, "127.0.0.1");`,
  };
}

/** The same with npm and Node alone, and a cache as warm. */
async function byHand(folder: string, home: string, files: Files): Promise<number> {
  const source = mkdtempSync(join(folder, "source-"));
  const port = freePort();
  const env = {
    PATH: `${join(home, "bin")}:${process.env.PATH}`,
    HOME: folder,
    PORT: String(port),
    npm_config_cache: join(folder, "cache"),
    npm_config_update_notifier: "false",
  };
  const startedAt = performance.now();
  mkdirSync(source, { recursive: true });
  for (const [path, content] of Object.entries(files)) writeFileSync(join(source, path), content);
  const install = Bun.spawn(["npm", "install", "--no-audit", "--no-fund"], {
    cwd: source,
    env,
    stdout: "ignore",
  });
  if ((await install.exited) !== 0) throw new Error("npm could not install");
  const server = Bun.spawn(["node", "server.js"], { cwd: source, env });
  try {
    const ask = async () => await (await fetch(`http://127.0.0.1:${port}/`)).text();
    await answers(() => ask().catch(() => ""), /hand/);
    return performance.now() - startedAt;
  } finally {
    server.kill();
    await server.exited;
  }
}

async function answers(ask: () => Promise<string>, expected: string | RegExp): Promise<void> {
  for (;;) {
    const text = await ask();
    if (typeof expected === "string" ? text === expected : expected.test(text)) return;
    await Bun.sleep(1);
  }
}

async function elapsedMs(task: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await task();
  return performance.now() - startedAt;
}
