// `pilvi up`: starts everything, keeps it running, and stops everything cleanly.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { findEngines } from "../engines/installed.ts";
import { Refusal } from "../lib/errors.ts";
import { Child } from "./child.ts";
import { ensureDataDir, lockDataDir } from "./data-dir.ts";
import { installCommand } from "./engines.ts";
import { portRefusal } from "./port-refusal.ts";
import { ensureProgram } from "./program.ts";

const LOG_CHECK_INTERVAL_MS = 60_000;

/** @returns the exit code, when everything has ended. */
export async function upCommand(config: Config): Promise<number> {
  const stopRequested = stopSignal();
  ensureDataDir(config.dataDir);
  if (!lockDataDir(config.dataDir, "up")) {
    throw new Refusal(`Another Pilvi already runs on the data directory ${config.dataDir}.`);
  }
  await refuseTakenPort(config);
  await ensureEngines(config);
  const children = await makeChildren(config);
  const timer = setInterval(() => children.forEach((child) => child.trimLog()), LOG_CHECK_INTERVAL_MS);
  try {
    const stopped = stopRequested.then(() => true);
    // Ctrl-C during the start counts as well.
    if (await Promise.race([startAll(children).then(() => false), stopped])) return 0;
    say(readyText(config));
    await stopped;
    return 0;
  } finally {
    clearInterval(timer);
    await stopAll(children);
  }
}

/** The host comes first: the control plane's store is one of its instances. */
async function startAll(children: Child[]): Promise<void> {
  for (const child of children) await child.start();
}

/** The last started goes first, so that the control plane still has its store while it ends. */
async function stopAll(children: Child[]): Promise<void> {
  for (const child of children.toReversed()) await child.stop();
}

async function makeChildren(config: Config): Promise<Child[]> {
  const program = await ensureProgram(config.dataDir);
  const logDir = join(config.dataDir, "log");
  mkdirSync(logDir, { recursive: true, mode: 0o700 });
  const env = { ...process.env, PILVI_DATA_DIR: config.dataDir };
  return (["host", "control"] as const).map(
    (name) => new Child({ name, program, env, logDir, notice: complain }),
  );
}

async function ensureEngines(config: Config): Promise<void> {
  const names = new Set((await findEngines(config.enginesDir)).map((engine) => engine.name));
  const isComplete =
    names.has("postgres") && names.has("valkey") && names.has("redis") && names.has("mariadb");
  if (!isComplete) await installCommand(config);
}

/** Said before anything is started or installed, while the control plane would find it out last. */
async function refuseTakenPort(config: Config): Promise<void> {
  try {
    const listener = Bun.listen({ hostname: config.host, port: config.port, socket: { data() {} } });
    listener.stop(true);
  } catch (error) {
    throw portRefusal(config, error);
  }
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    // More of them change nothing: the end is on its way.
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve());
  });
}

function readyText(config: Config): string {
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  const url = `${config.tls === undefined ? "http" : "https"}://${host}:${config.port}`;
  const tokenFile = join(config.dataDir, "token");
  const token =
    config.bootstrapToken === undefined
      ? `The token for the API is in ${tokenFile}`
      : "The token for the API is PILVI_BOOTSTRAP_TOKEN";
  const inCommand = config.bootstrapToken === undefined ? `$(cat ${tokenFile})` : "$PILVI_BOOTSTRAP_TOKEN";
  return [
    `pilvi ready ${url}`,
    token,
    "Try:",
    "  npx pilvi caches create sessions --wait",
    `  curl -H "Authorization: Bearer ${inCommand}" ${url}/api/caches`,
    `  open ${url}/docs`,
  ].join("\n");
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function complain(text: string): void {
  process.stderr.write(`${text}\n`);
}
