// Runs the measurements of bench/, all of them or the named ones, one after the other, and leaves nothing behind.
// `npm run bench -- create-cache api-latency` runs two, and `wake=20` gives a measurement a number of its own, such as
// its rounds. Ends with 1 when a measurement failed, never because of a figure.
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { processesAt } from "./processes-at.mjs";
import { checkoutDir, ensureDependencies, findBun, runScript } from "./setup.mjs";

const benchDir = join(checkoutDir, "bench");
/** How long a stopped Pilvi may take to end with all its engines. */
const STOP_MS = 30_000;

/** The running program; a signal is passed on to it. */
let running;
let wasStopped = false;

async function main() {
  const chosen = chosenMeasurements(process.argv.slice(2));
  if (chosen === undefined) return;
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, stop);
  await ensureDependencies({ withTools: true });
  const bun = await findBun();
  if (!(await run(bun, ["src/main.ts", "engines", "install"], {}))) return fail();
  for (const { name, options } of chosen) {
    if (wasStopped) return fail();
    if (!(await measure(bun, name, options))) fail();
  }
}

/** The requested measurements with their options, or undefined after an error about an unknown name. */
function chosenMeasurements(words) {
  const known = readdirSync(benchDir)
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.slice(0, -".ts".length))
    .sort();
  const wanted = (words.length > 0 ? words : known).map((word) => {
    const [name, ...options] = word.split("=");
    return { name, options };
  });
  const unknown = wanted.map(({ name }) => name).find((name) => !known.includes(name));
  if (unknown === undefined) return wanted;
  process.stderr.write(`There is no measurement ${unknown}. There are: ${known.join(", ")}\n`);
  process.exitCode = 2;
  return undefined;
}

async function measure(bun, name, options) {
  const root = mkdtempSync(join(tmpdir(), "pilvi-bench-"));
  // Engines run under users of their own, who must be able to reach their folders below this one.
  chmodSync(root, 0o711);
  try {
    return await run(bun, [join("bench", `${name}.ts`), ...options], { PILVI_TEST_ROOT: root });
  } finally {
    // A measurement ends all that it started; this is for a measurement that was killed.
    for (const { pid } of processesAt(root)) killIfThere(pid);
    while (processesAt(root).length > 0) await sleep(20);
    rmSync(root, { recursive: true, force: true });
  }
}

/** Runs a program to its end. @returns whether it ended with 0. */
function run(program, args, env) {
  return new Promise((resolve, reject) => {
    // In a group of its own, so that a terminal's Ctrl-C ends it once and in its order.
    running = spawn(program, args, {
      cwd: checkoutDir,
      env: { ...process.env, ...env },
      stdio: ["ignore", "inherit", "inherit"],
      detached: true,
    });
    running.on("error", reject);
    running.on("exit", (code) => {
      running = undefined;
      resolve(code === 0);
    });
    if (wasStopped) stop();
  });
}

function stop() {
  wasStopped = true;
  const child = running;
  if (child === undefined) return;
  child.kill("SIGTERM");
  setTimeout(() => child.kill("SIGKILL"), STOP_MS).unref();
}

function fail() {
  process.exitCode = 1;
}

function killIfThere(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

await runScript(main);
