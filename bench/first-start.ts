// Measures `npm start` in a fresh clone: the first start, which installs packages and engines and builds the console,
// and later starts. Beside them: npm alone with the same packages, and the program that does least in the same runtime.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort } from "../tests/support/pilvi/ports.ts";
import { CannotMeasure, runWithoutPilvi } from "./support/bench.ts";
import { countOption } from "./support/options.ts";
import { milliseconds, printColumns, printRow, printTarget, printTimes } from "./support/report.ts";
import { median } from "./support/statistics.ts";

const ROUNDS = countOption(5);
const CHECKOUT = resolve(import.meta.dir, "..");
/** Targets of a first and of a later start, in milliseconds. */
const TARGETS_MS = { first: 45_000, later: 2_000 };
/** npm's own work for the same packages, with the options of the set-up. */
const NPM_INSTALL =
  "npm install --omit=dev --include=optional --no-save --ignore-scripts --no-audit --no-fund --loglevel=error".split(
    " ",
  );

await runWithoutPilvi(
  `first-start: npm start in a fresh clone, then ${ROUNDS} later starts`,
  async (bench) => {
    const folder = mkdtempSync(join(tmpdir(), "pilvi-first-start-"));
    bench.atEnd(() => rmSync(folder, { recursive: true, force: true }));
    // Engines run under users of their own, which must reach their folders below this folder.
    chmodSync(folder, 0o711);
    const bareMs = await measureNpm(join(folder, "npm"));
    const start = freshStart(join(folder, "pilvi"));
    const firstMs = await start();
    const laterMs: number[] = [];
    const emptyMs: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      emptyMs.push(await elapsedMs([process.execPath, "-e", "0"], CHECKOUT));
      laterMs.push(await start());
    }
    printColumns("time", "x bare");
    printRow("npm install of the same packages, alone (baseline)", milliseconds(bareMs));
    printRow("first npm start", milliseconds(firstMs), `${(firstMs / bareMs).toFixed(2)}x`);
    console.log("");
    printColumns("median", "p99", "x median", "x p99");
    printTimes("an empty program in the same runtime (baseline)", emptyMs);
    printTimes("later npm start", laterMs, emptyMs);
    printTarget("first start", firstMs, TARGETS_MS.first, milliseconds);
    printTarget("later start", median(laterMs), TARGETS_MS.later, milliseconds);
  },
);

/** Installs the packages of a clone with a cache of its own, as nothing on this machine may help. */
async function measureNpm(folder: string): Promise<number> {
  await clone(folder);
  return await elapsedMs(NPM_INSTALL, join(folder, "checkout"), npmCache(folder));
}

/** A clone with empty folders; the result starts it, waits until it is ready, stops it and returns the time to ready. */
function freshStart(folder: string): () => Promise<number> {
  const env = {
    ...npmCache(folder),
    PILVI_DATA_DIR: join(folder, "data"),
    PILVI_PORT: String(freePort()),
    PILVI_RATE_LIMIT: "0",
  };
  const cloned = clone(folder);
  return async () => {
    await cloned;
    return await readyMs(join(folder, "checkout"), env);
  };
}

async function clone(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  await elapsedMs(["git", "clone", "--quiet", CHECKOUT, join(folder, "checkout")], folder);
}

function npmCache(folder: string): Record<string, string> {
  return { npm_config_cache: join(folder, "npm-cache") };
}

/** The time of a program from its start to its end. @throws CannotMeasure when it fails. */
async function elapsedMs(command: string[], cwd: string, env: Record<string, string> = {}): Promise<number> {
  const startedMs = performance.now();
  const program = Bun.spawn(command, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said = await new Response(program.stderr).text();
  if ((await program.exited) !== 0) throw new CannotMeasure(`${command[0]} failed: ${said.trimEnd()}`);
  return performance.now() - startedMs;
}

/** The time from `npm start` to its ready line; the started Pilvi is stopped. */
async function readyMs(checkout: string, env: Record<string, string>): Promise<number> {
  const startedMs = performance.now();
  const npm = Bun.spawn(["npm", "start"], {
    cwd: checkout,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const faults = new Response(npm.stderr).text();
  let printed = "";
  let readyAtMs: number | null = null;
  const decoder = new TextDecoder();
  for await (const bytes of npm.stdout) {
    printed += decoder.decode(bytes, { stream: true });
    if (readyAtMs !== null || !printed.includes("pilvi ready ")) continue;
    readyAtMs = performance.now();
    npm.kill("SIGTERM");
  }
  await npm.exited;
  if (readyAtMs === null) throw new CannotMeasure(`Pilvi did not start: ${await faults}`);
  return readyAtMs - startedMs;
}
