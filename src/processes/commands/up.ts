// `pilvi up`: starts everything, keeps it running, and stops everything cleanly.
import { once } from "node:events";
import { mkdirSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { codeOf, messageOf, Refusal } from "../../lib/errors.ts";
import { OPEN_FILES, raiseOpenFileLimit } from "../../lib/open-files.ts";
import { protectFromOom } from "../../lib/oom-score.ts";
import { AddressKeeper } from "../program/address-keeper.ts";
import { readCertificate } from "../tls/certificate.ts";
import { Child } from "../program/child.ts";
import { setUpLink } from "../bootstrap/console-link.ts";
import { ensureDataDir, lockDataDir } from "../bootstrap/data-dir.ts";
import { ensureEngines, warnOfUnsafeEngines } from "../bootstrap/engine-setup.ts";
import { refuseTakenPort } from "../bootstrap/port-refusal.ts";
import { publishConsole } from "../console/publish.ts";
import { ensureProgram } from "../program/program.ts";
import { readyText } from "../bootstrap/ready-text.ts";

const LOG_CHECK_INTERVAL_MS = 60_000;

/** @returns the exit code, when everything has ended. */
export async function upCommand(config: Config): Promise<number> {
  protectFromOom();
  raiseOpenFileLimit(OPEN_FILES);
  const stop = stopSignal();
  ensureDataDir(config.dataDir);
  if (!lockDataDir(config.dataDir, "up")) {
    throw new Refusal(`Another Pilvi already runs on the data directory ${config.dataDir}.`);
  }
  // Refused before anything is installed or started, since the processes themselves would find these faults last.
  refuseTakenPort(config);
  readCertificate(config);
  const hasEngines = await ensureEngines(config, stop, complain);
  if (stop.aborted) return 0;
  return hasEngines ? await run(config, stop) : 1;
}

async function run(config: Config, stop: AbortSignal): Promise<number> {
  say(`starting Pilvi in ${config.dataDir}`);
  const children = await makeChildren(config);
  const publication = publishConsole(config.dataDir, complain);
  const timer = setInterval(() => children.forEach((child) => child.trimLog()), LOG_CHECK_INTERVAL_MS);
  const stopped = stop.aborted ? Promise.resolve() : once(stop, "abort");
  try {
    // Ctrl-C during the start counts as well.
    await Promise.race([startAll(children, stop), stopped]);
    if (!stop.aborted) say(readyText(config, await firstLink(config)));
    if (!stop.aborted) await warnOfUnsafeEngines(config, complain);
    await stopped;
    say("stopping Pilvi");
    return 0;
  } finally {
    clearInterval(timer);
    await Promise.all([publication.stop(), stopAll(children)]);
    if (stop.aborted) say("stopped");
  }
}

/** The console can wait: a link that cannot be made now is made by `pilvi console link` later. */
async function firstLink(config: Config): Promise<string | null> {
  try {
    return await setUpLink(config);
  } catch (error) {
    complain(`There is no link for the first account: ${messageOf(error)}`);
    return null;
  }
}

/**
 * The host comes first: the control plane's store is one of its instances, and it logs in to databases through the
 * gateway.
 */
async function startAll(children: Child[], stop: AbortSignal): Promise<void> {
  for (const child of children) {
    if (!stop.aborted) await child.start();
  }
}

/**
 * The process that was started last is stopped first, so that the control plane still has its store while it ends, and
 * no client waits for an engine that is being stopped.
 */
async function stopAll(children: Child[]): Promise<void> {
  for (const child of children.toReversed()) await child.stop();
}

async function makeChildren(config: Config): Promise<Child[]> {
  const program = await ensureProgram(config.dataDir);
  const logDir = join(config.dataDir, "log");
  mkdirSync(logDir, { recursive: true, mode: 0o700 });
  const env = { ...process.env, PILVI_DATA_DIR: config.dataDir };
  const shared = { program, env, logDir, notice: complain };
  return [
    new Child({ ...shared, name: "host", keeper: new AddressKeeper(complain) }),
    new Child({ ...shared, name: "gateway" }),
    new Child({ ...shared, name: "control" }),
  ];
}

/** Aborted by a signal, or by the end of the script that started this process and would have passed signals on. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  // Further signals change nothing: the end is on its way.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop.abort());
  process.on("disconnect", () => stop.abort());
  return stop.signal;
}

function say(text: string): void {
  write(1, text);
}

function complain(text: string): void {
  write(2, text);
}

/** The reader of this output may be gone by now, which is no reason to end. */
function write(fd: 1 | 2, text: string): void {
  try {
    writeSync(fd, `${text}\n`);
  } catch (error) {
    if (codeOf(error) !== "EPIPE") throw error;
  }
}
