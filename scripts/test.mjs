// Runs the tests and makes sure that they leave neither processes nor files behind. `--full` adds the slow tests, which
// are those of tests/full and tests/attack and all files `*.full.test.ts`; `--attack` and `--only-full` run those of
// tests/attack or all others alone. Attacks that take little time are both slow and quick tests.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { failuresOf, titleOf, withoutColors } from "./failures.mjs";
import { processesAt, stateOf } from "./processes-at.mjs";
import { currentTurn, jobsOf, nameOf, ofThisTurn } from "./test-jobs.mjs";
import { checkoutDir, ensureDependencies, findBun, runScript, SetupError } from "./setup.mjs";

const TEST_TIMEOUT_MS = 120_000;
/** How long the pipes of a program that has ended are still read. */
const SETTLE_MS = 2000;
/** How long a stopped process or its cleanup may take on a busy machine before the process counts as left behind. */
const LEFT_BEHIND_MS = 60_000;
const STOP_MS = 5000;
/** A job without output for so long hangs: no test may take longer. */
const MAX_SILENT_MS = 11 * 60_000;
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Each worker has ports of its own; see tests/support/pilvi/ports.ts. */
const MAX_WORKERS = 4;

/** When jobs are no longer begun, in milliseconds since 1970; `PILVI_TEST_UNTIL` gives it in seconds. */
const UNTIL_MS = Number(process.env.PILVI_TEST_UNTIL ?? Infinity) * 1000;

/** Over how many turns the slow tests that run alone are divided. */
const TURNS = Number(process.env.PILVI_TEST_TURNS ?? 1);
/** The turn of this run, also for the tests that take a share of their own. */
const TURN = Number((process.env.PILVI_TEST_TURN ??= String(currentTurn())));

/** Attacks that take little time: both `npm test` and `--attack` run them. */
const QUICK_ATTACKS = new Set([
  join("tests", "attack", "refusals.test.ts"),
  join("tests", "api", "host-header.test.ts"),
]);

/** Says whether a path is that of a slow test, by the option that runs nothing else. */
const SLOW_TESTS = {
  "--only-full": (path) => path.startsWith(join("tests", "full", sep)) || path.endsWith(".full.test.ts"),
  "--attack": (path) => path.startsWith(join("tests", "attack", sep)) || QUICK_ATTACKS.has(path),
};

const [mode] = process.argv.slice(2);

/** The running programs; a signal is passed on to them. */
const running = new Set();
const stopping = new AbortController();
/** The failures, to be shown again at the end. */
const failures = [];
/** The names of jobs that were not begun for want of time. */
const leftOut = [];
/** The files whose turn it is not. */
const later = [];

async function main() {
  if (mode !== undefined && mode !== "--full" && !(mode in SLOW_TESTS))
    throw new SetupError(
      `There is no option ${mode}; there are --full, ${Object.keys(SLOW_TESTS).join(", ")}.`,
      2,
    );
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, stop);
  await ensureDependencies({ withTools: true });
  const bun = await findBun();
  const installed = await run(bun, ["src/main.ts", "engines", "install"], { stdio: ["ignore", 2, 2] });
  if (installed.code !== 0) return report({ passed: 0, failed: 1 });
  const [built, programs] = await Promise.all([
    // Every Pilvi of a test would build it otherwise.
    run(bun, ["src/processes/console/build.ts"], { stdio: ["ignore", 2, 2] }),
    run(bun, ["tests/support/clients/install-programs.ts"], { stdio: ["ignore", "pipe", 2], isIdle: true }),
  ]);
  if (built.code !== 0 || programs.code !== 0) return report({ passed: 0, failed: 1 });
  if (programs.output !== "") process.env.PATH = `${process.env.PATH}:${programs.output}`;

  const folder = mkdtempSync(join(tmpdir(), "pilvi-"));
  try {
    makeReachable(folder);
    const template = jobFolder(folder, 0);
    const made = await run(bun, ["tests/support/pilvi/make-template.ts", template], {
      stdio: ["ignore", 2, 2],
    });
    if (made.code !== 0) return report({ passed: 0, failed: 1 });
    process.env.PILVI_TEST_TEMPLATE = template;
    report(await runTests(bun, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A folder below that of the run. Its path is short, as paths of sockets have to be, and no beginning of another. */
function jobFolder(folder, number) {
  const path = join(folder, String(number).padStart(4, "0"));
  mkdirSync(path);
  makeReachable(path);
  return path;
}

/**
 * Engines run under users of their own, who must be able to reach their folders below this one. What one test has
 * deleted slows down another unless an ext4 keeps their folders apart; see src/lib/spread-folders.ts.
 */
function makeReachable(folder) {
  chmodSync(folder, 0o711);
  spawnSync("chattr", ["+T", folder], { stdio: "ignore" });
}

function stop() {
  stopping.abort();
  for (const child of running) {
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), STOP_MS).unref();
  }
}

/** Runs several jobs at a time; a job that has ended makes room for the next. */
async function runTests(bun, folder) {
  const jobs = jobsOf(testFiles());
  const count = jobs.length;
  if (jobs.length === 0 || stopping.signal.aborted) return { passed: 0, failed: 1 };
  const total = { passed: 0, failed: 0 };
  const worker = async (_, index) => {
    for (let job = jobs.shift(); job !== undefined && !stopping.signal.aborted; job = jobs.shift()) {
      if (Date.now() > UNTIL_MS) {
        leftOut.push(nameOf(job));
        continue;
      }
      const root = jobFolder(folder, count - jobs.length);
      const { passed, failed } = await runJob(bun, job, { root, worker: index });
      total.passed += passed;
      total.failed += failed;
    }
  };
  await Promise.all(Array.from({ length: Math.min(workerCount(), MAX_WORKERS) }, worker));
  return stopping.signal.aborted ? { ...total, failed: total.failed + 1 } : total;
}

/** Most tests wait more than they work; those of tests/attack compare times on the machine. */
function workerCount() {
  return mode === "--attack" ? 1 : cpus().length + 2;
}

/** Runs a job in a folder of its own, where nothing may be left. */
async function runJob(bun, files, { root, worker }) {
  const name = nameOf(files);
  try {
    const { passed, failed } = await runFiles(bun, root, { files, name, worker });
    const isClean = await cleanUp(root, name);
    return { passed, failed: failed + (isClean ? 0 : 1) };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Shows the output of a job when it has ended, so that the outputs of simultaneous jobs do not mix. */
async function runFiles(bun, root, { files, name, worker }) {
  const startedMs = Date.now();
  const colors = process.stderr.isTTY ? { FORCE_COLOR: "1" } : {};
  const { code, output, isHung } = await run(bun, ["test", "--timeout", String(TEST_TIMEOUT_MS), ...files], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...colors, PILVI_TEST_ROOT: root, PILVI_TEST_WORKER: String(worker) },
    isIdle: true,
    maxSilentMs: MAX_SILENT_MS,
  });
  const passed = lastCount(output, "pass");
  const failed = lastCount(output, "fail");
  // A runner that crashed, an error outside a test and a run without tests have no failed test to show.
  const hasHiddenFailure = failed === 0 && (code !== 0 || passed === 0);
  const seconds = ((Date.now() - startedMs) / 1000).toFixed(1);
  const end = isHung ? "hung, and was killed," : hasHiddenFailure ? "failed" : "ended";
  process.stderr.write(`${output.trimEnd()}\n${name}: ${end} after ${seconds} s\n\n`);
  if (hasHiddenFailure || failed > 0)
    failures.push(...failuresOf(output).map((failure) => `${name}\n${failure}`));
  return { passed, failed: hasHiddenFailure ? 1 : failed };
}

function testFiles() {
  const files = ["src", "tests"].flatMap((folder) => filesBelow(join(checkoutDir, folder)));
  const wanted = files
    .map((path) => relative(checkoutDir, path))
    .filter((path) => path.endsWith(".test.ts"))
    .filter(isWanted)
    .map((path) => `.${sep}${path}`);
  if (mode !== "--only-full") return wanted;
  const { now, later: others } = ofThisTurn(wanted, TURNS, TURN);
  later.push(...others);
  return now;
}

function isWanted(path) {
  if (mode === "--full") return true;
  const isAsked = SLOW_TESTS[mode];
  if (isAsked !== undefined) return isAsked(path);
  return QUICK_ATTACKS.has(path) || !Object.values(SLOW_TESTS).some((isSlow) => isSlow(path));
}

function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

/** Runs a program to its end, showing its output as it comes, and kills it when it is silent for too long. */
function run(program, args, { maxSilentMs, ...options }) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: checkoutDir, ...options });
    running.add(child);
    let output = "";
    let isHung = false;
    const silence = setTimeout(() => {
      isHung = true;
      output += `\nsilent for ${maxSilentMs / 1000} s; ${stateOf(child.pid)}\n`;
      child.kill("SIGKILL");
    }, maxSilentMs ?? MAX_TIMER_MS);
    for (const [from, to] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ]) {
      from?.on("data", (chunk) => {
        output += chunk;
        silence.refresh();
        if (!options.isIdle) to.write(chunk);
      });
    }
    child.on("error", reject);
    child.on("exit", async (code) => {
      clearTimeout(silence);
      // A process that was left behind may hold the pipes open for ever, so the wait for their end is bounded.
      await Promise.race([once(child, "close"), sleep(SETTLE_MS)]);
      child.stdout?.destroy();
      child.stderr?.destroy();
      running.delete(child);
      resolve({ code, output, isHung });
    });
  });
}

/** The number in Bun's last summary line for `pass` or `fail`; 0 when there is none. */
function lastCount(output, word) {
  const last = [...withoutColors(output).matchAll(new RegExp(`^\\s*(\\d+) ${word}$`, "gm"))].at(-1);
  return last === undefined ? 0 : Number(last[1]);
}

/** Lists and removes the leftovers of a job; false when there were any. */
async function cleanUp(root, name) {
  const untilMs = Date.now() + LEFT_BEHIND_MS;
  // The processes of a test that was stopped do not end by themselves.
  const isWaiting = () => Date.now() < untilMs && !stopping.signal.aborted;
  while (processesAt(root).length > 0 && isWaiting()) await sleep(50);
  const processes = processesAt(root);
  for (const { pid, command } of processes) {
    failures.push(`${name} left a process behind: ${pid}: ${command}`);
    kill(pid);
  }
  const files = readdirSync(root);
  failures.push(...files.map((file) => `${name} left a file behind: ${join(root, file)}`));
  return processes.length + files.length === 0;
}

/** The process may have ended by itself meanwhile. */
function kill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

function report({ passed, failed }) {
  if (failures.length > 0) {
    process.stderr.write(`failures:\n\n${failures.join("\n\n")}\n\n`);
    process.stderr.write(`failed:\n${failures.map(titleOf).join("\n")}\n\n`);
  }
  if (later.length > 0) process.stderr.write(`left for another turn:\n${later.join("\n")}\n\n`);
  if (leftOut.length > 0) process.stderr.write(`not run for want of time:\n${leftOut.join("\n")}\n\n`);
  const skipped = leftOut.length > 0 ? `, ${leftOut.length} skipped` : "";
  console.log(`${passed} passed, ${failed} failed${skipped}`);
  if (failed > 0) process.exitCode = 1;
}

await runScript(main);
