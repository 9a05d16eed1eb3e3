// `pilvi up`: starts everything, keeps it running, and stops everything cleanly.
import { once } from "node:events";
import type { Config } from "../../config.ts";
import { messageOf, Refusal } from "../../lib/errors.ts";
import { OPEN_FILES, raiseOpenFileLimit } from "../../lib/open-files.ts";
import { protectFromOom } from "../../lib/oom-score.ts";
import { readCertificate } from "../tls/certificate.ts";
import { makeChildren, stopAll, type Children } from "../program/children.ts";
import { ensureProgram, type Program } from "../program/program.ts";
import { complain, say, stopSignal } from "../program/terminal.ts";
import { setUpLink } from "../bootstrap/console-link.ts";
import { ensureDataDir, lockDataDir } from "../bootstrap/data-dir.ts";
import { ensureEngines, warnOfUnsafeEngines } from "../bootstrap/engine-setup.ts";
import { waitForPort } from "../bootstrap/port-refusal.ts";
import { publishConsole } from "../console/publish.ts";
import { readyText } from "../bootstrap/ready-text.ts";
import { refuseUnfinishedRestore } from "../restore/restore-state.ts";

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
  refuseUnfinishedRestore(config.dataDir);
  // Refused before anything is installed or started, since the processes themselves would find these faults last.
  await waitForPort(config, stop);
  readCertificate(config);
  // Engines are fetched meanwhile on a first start, which leaves the processor to the builds.
  const publication = publishConsole(config.dataDir, complain);
  const building = ensureProgram(config.dataDir);
  // Its fault is said below, after the engines are there.
  building.catch(() => undefined);
  try {
    const hasEngines = await ensureEngines(config, stop, complain);
    if (stop.aborted) return 0;
    return hasEngines ? await run(config, await building, stop) : 1;
  } finally {
    await publication.stop();
  }
}

async function run(config: Config, program: Program, stop: AbortSignal): Promise<number> {
  say(`starting Pilvi in ${config.dataDir}`);
  const children = makeChildren(config, program);
  const timer = setInterval(
    () => Object.values(children).forEach((child) => child.trimLog()),
    LOG_CHECK_INTERVAL_MS,
  );
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
    await stopAll(children);
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
 * gateway. Nobody waits for the keeper, without which all but backups works.
 */
async function startAll({ host, keeper, gateway, control }: Children, stop: AbortSignal): Promise<void> {
  await host.start();
  if (!stop.aborted) keeper.begin();
  for (const child of [gateway, control]) {
    if (!stop.aborted) await child.start();
  }
}
