// Makes a fresh checkout ready to run: installs the packages of package-lock.json and finds the Bun that runs Pilvi. It
// runs before anything is installed, so it needs only Node 18 and npm.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root folder of the checkout. */
export const checkoutDir = dirname(dirname(fileURLToPath(import.meta.url)));

const modulesDir = join(checkoutDir, "node_modules");
/** The stamp of a finished installation by this script, or the mark of an unfinished one. */
const stampFile = join(modulesDir, ".pilvi-lock");
const UNFINISHED = "unfinished\n";
/** Stands in the stamp when the packages of checks and tests are there as well. */
const TOOLS = " with tools";
/** npm's own record of an installation. */
const notedFile = join(modulesDir, ".package-lock.json");
const thisFile = fileURLToPath(import.meta.url);
const MIN_NODE_MAJOR = 18;
const BUN_PACKAGES = { x64: "@oven/bun-linux-x64", arm64: "@oven/bun-linux-aarch64" };
const BASELINE_PACKAGE = "@oven/bun-linux-x64-baseline";

/** The signals that ask a program to end. */
export const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

/** A reason to stop that is shown to the user as one sentence. */
export class SetupError extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Runs a script's main function; ends the program with one sentence when the set-up cannot be done. */
export async function runScript(main) {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = error.exitCode;
  }
}

/**
 * Installs the packages when they are missing or differ from package-lock.json. Those of checks and tests, a fifth of
 * all bytes, are installed only where tools are asked for.
 *
 * Two starts in one checkout wait for each other: `flock` holds the checkout's folder while npm works, and the kernel
 * releases it however npm ends.
 */
export async function ensureDependencies({ withTools = false } = {}) {
  checkPlatform();
  if (isInstalled(withTools)) return;
  checkLibc();
  const code = await runLocked(withTools ? "install-tools" : "install");
  if (code !== 0) throw new SetupError("The packages that Pilvi needs could not be installed.");
}

/** The absolute path of a Bun of the pinned version, or of the same minor version; call `ensureDependencies` first. */
export async function findBun() {
  const wanted = pinnedBunVersion();
  const pinned = programOf(BUN_PACKAGES[process.arch]);
  if (runsBun(pinned, wanted)) return pinned;
  // A processor without AVX2 cannot run the usual build, only the build for older processors.
  if (process.arch === "x64" && existsSync(pinned)) {
    const baseline = programOf(BASELINE_PACKAGE);
    if (!runsBun(baseline, wanted)) await runLocked("install-baseline");
    if (runsBun(baseline, wanted)) return baseline;
  }
  if (runsBun("bun", wanted)) return "bun";
  throw new SetupError(
    `Pilvi needs Bun ${wanted}, and neither the one in node_modules nor one on PATH runs on this machine.`,
  );
}

function checkPlatform() {
  const nodeMajor = Number(process.versions.node.split(".")[0]);
  if (nodeMajor < MIN_NODE_MAJOR) {
    throw new SetupError(
      `Pilvi needs Node ${MIN_NODE_MAJOR} or newer, and this is ${process.versions.node}.`,
    );
  }
  if (process.platform !== "linux" || BUN_PACKAGES[process.arch] === undefined) {
    throw new SetupError(
      `Pilvi runs on Linux on x64 and arm64, and this is ${process.platform} on ${process.arch}.`,
    );
  }
}

function checkLibc() {
  // Without this, making the report looks up the names of all open connections, which can take seconds.
  process.report.excludeNetwork = true;
  if (process.report.getReport().header.glibcVersionRuntime !== undefined) return;
  throw new SetupError("Pilvi needs a Linux with the GNU C library, which this one (Alpine?) does not have.");
}

function isInstalled(withTools) {
  const before = readIfThere(stampFile);
  if (before === stampOf(true) || (!withTools && before === stampOf(false))) return true;
  if (before === UNFINISHED || !matchesLockFile(withTools)) return false;
  writeFileSync(stampFile, stampOf(withTools));
  return true;
}

function stampOf(withTools) {
  const lockFile = readFileSync(join(checkoutDir, "package-lock.json"));
  const hash = createHash("sha256").update(lockFile).digest("hex");
  return `${hash} ${process.platform}-${process.arch}${withTools ? TOOLS : ""}\n`;
}

/** Whether npm's record matches the lock file, as after an `npm install` by hand. */
function matchesLockFile(withTools) {
  const installed = notedPackages();
  if (installed === undefined) return false;
  const wanted = JSON.parse(readFileSync(join(checkoutDir, "package-lock.json"), "utf8")).packages;
  return Object.entries(wanted).every(([path, { version, dev, optional, os, cpu, libc }]) => {
    if (path === "" || (dev === true && !withTools)) return true;
    if (installed[path] !== undefined) return installed[path].version === version;
    const isForHere = [
      [os, process.platform],
      [cpu, process.arch],
      [libc, "glibc"],
    ].every(([allowed, here]) => allowed === undefined || allowed.includes(here));
    return optional === true && !isForHere;
  });
}

/** The packages of npm's record; undefined without one, or when a power cut has left an empty file. */
function notedPackages() {
  try {
    return JSON.parse(readIfThere(notedFile) ?? "").packages;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function install(isAsked) {
  // Another start may have installed everything while this one waited for the lock.
  if (isInstalled(isAsked)) return;
  // A start after an update takes no tools away.
  const withTools = isAsked || readIfThere(stampFile)?.trimEnd().endsWith(TOOLS) === true;
  process.stderr.write("installing packages ... ");
  const startedMs = Date.now();
  // A killed npm leaves half of a package, so an unfinished folder is removed. A whole folder is only updated, because
  // a Pilvi may be running from it.
  const isWhole = notedPackages() !== undefined && readIfThere(stampFile) !== UNFINISHED;
  if (!isWhole) rmSync(modulesDir, { recursive: true, force: true });
  mkdirSync(modulesDir, { recursive: true });
  writeFileSync(stampFile, UNFINISHED);
  // Not `npm ci`: it refuses a lock file that was written where the registry lacks the packages for other platforms.
  await npm(["install", withTools ? "--include=dev" : "--omit=dev", "--include=optional"]);
  // A power cut must not leave the stamp without the packages.
  spawnSync("sync", ["--file-system", modulesDir]);
  writeFileSync(stampFile, stampOf(withTools));
  process.stderr.write(`done in ${((Date.now() - startedMs) / 1000).toFixed(1)} s\n`);
}

async function installBaseline() {
  const version = pinnedBunVersion();
  if (runsBun(programOf(BASELINE_PACKAGE), version)) return;
  process.stderr.write("installing the Bun for processors without AVX2 ... ");
  await npm(["install", `${BASELINE_PACKAGE}@${version}`]);
  process.stderr.write("done\n");
}

async function npm(args) {
  const npmScript = process.env.npm_execpath;
  const isNpm = npmScript !== undefined && basename(npmScript) === "npm-cli.js";
  const [program, ...before] = isNpm ? [process.execPath, npmScript] : ["npm"];
  const options = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const child = spawn(program, [...before, ...args, ...options], {
    cwd: checkoutDir,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const code = await endOf(child);
  if (code === 0) return;
  // The reason comes first; usage notes may follow it.
  const reason = output.trimEnd().split("\n").slice(0, 15).join("\n");
  throw new SetupError(`failed\n${reason === "" ? `npm ended with ${code}.` : reason}`);
}

/**
 * Runs a step of this script while holding the checkout; without `flock` on this machine, two starts at the same time
 * are not kept apart. The step is in a process group of its own, and ends itself with all its children when its
 * standard input ends.
 */
async function runLocked(step) {
  const lock = spawnSync("flock", ["--version"], { stdio: "ignore" }).error ? [] : ["flock", checkoutDir];
  const [program, ...args] = [...lock, process.execPath, thisFile, step];
  const child = spawn(program, args, { detached: true, stdio: ["pipe", "inherit", "inherit"] });
  let interruption;
  const interrupt = (signal) => {
    interruption ??= signal;
    child.stdin.destroy();
  };
  for (const signal of STOP_SIGNALS) process.on(signal, interrupt);
  const code = await endOf(child);
  for (const signal of STOP_SIGNALS) process.off(signal, interrupt);
  if (interruption === undefined) return code;
  throw new SetupError("interrupted", 128 + constants.signals[interruption]);
}

/** The parent of this step may be killed, and no process of the step must live on then. */
function endWithParent() {
  process.stdin.on("end", () => process.kill(0, "SIGKILL")).resume();
}

function endOf(child) {
  return new Promise((resolve, reject) => {
    child.on("error", (error) =>
      reject(new SetupError(`${child.spawnfile} cannot be run: ${error.message}.`)),
    );
    child.on("close", (code) => resolve(code ?? 1));
  });
}

function programOf(bunPackage) {
  return join(modulesDir, bunPackage, "bin", "bun");
}

function pinnedBunVersion() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(checkoutDir, "package.json"), "utf8"));
  return optionalDependencies[BUN_PACKAGES[process.arch]];
}

function runsBun(program, wanted) {
  const { status, stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
  return status === 0 && minorOf(stdout) === minorOf(wanted);
}

function minorOf(version) {
  return version.trim().split(".").slice(0, 2).join(".");
}

function readIfThere(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

if (process.argv[1] === thisFile) {
  endWithParent();
  const steps = {
    install: () => install(false),
    "install-tools": () => install(true),
    "install-baseline": installBaseline,
  };
  await runScript(steps[process.argv[2]]);
  process.stdin.destroy();
}
