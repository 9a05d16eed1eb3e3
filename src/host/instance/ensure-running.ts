// The steps to a running engine; each step can be repeated.
import { PublicError } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { InstanceOrigin } from "../backups/instance-origin.ts";
import type { Contents } from "../engine/contents.ts";
import type { EngineProcess } from "../engine/engine-process.ts";
import type { InstanceAddress } from "../engine/instance-address.ts";
import type { ManifestFile } from "../manifest/manifest-file.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { EngineRunner } from "../engine/runner.ts";
import type { Runnable } from "../engine/runner-parts.ts";
import type { FailureHandler } from "../engine/failure-handler.ts";
import type { SleepCycle } from "../sleep/sleep-cycle.ts";
import { startOwnerOf, type StartLimiter, type StartRequest } from "../engine/start-limiter.ts";
import type { InstanceLifecycle } from "../lifecycle/machine.ts";
import { isAdoptionDue } from "../manifest/spec-change.ts";
import { isApplied, isSleeping } from "../lifecycle/state.ts";

export interface EnsureRunningParts {
  lifecycle: InstanceLifecycle;
  file: ManifestFile;
  runner: EngineRunner;
  address: InstanceAddress;
  contents: Contents;
  sleep: SleepCycle;
  failures: FailureHandler;
  starts: StartLimiter;
  /** Aborted when the engine is to be stopped or let go. */
  leaving: AbortSignal;
  origin: Pick<InstanceOrigin, "failure">;
  /** Ends the copy of the data that a start is about to change. */
  makeWay(): Promise<void>;
  /** Takes over the data of the instance that the spec names, unless that is done. */
  adopt(): Promise<void>;
}

type Running = { runnable: Runnable; process: EngineProcess };

/**
 * Brings the engine to run as the spec says. Never throws: the failure handler gets every failure, and a retry follows.
 * @param askedAtMs when a client asked for the engine; null leaves a sleeping instance asleep.
 */
export async function ensureRunning(parts: EnsureRunningParts, askedAtMs: number | null): Promise<void> {
  const { lifecycle, file, runner, address, contents, sleep, failures } = parts;
  const { manifest } = file;
  if (manifest === null || lifecycle.isLeaving || parts.origin.failure !== null) return;
  try {
    await address.hold();
    if (isSleeping(lifecycle.state) && askedAtMs === null) return sleep.sleepOn();
    if (runner.process !== null && isApplied(lifecycle.state)) return;
    const durable = sleep.beginStart(askedAtMs);
    await failpoint("host.start.noted");
    const { runnable, process } = await runningEngine(parts, manifest, askedAtMs !== null);
    await failpoint("host.ensure.ready");
    const isDataNew = manifest.state !== "asleepApplied" && (await contents.apply(runnable, process));
    await durable;
    runner.limit(runnable, process);
    failures.over();
    sleep.started(!contents.isPartial, isDataNew);
  } catch (error) {
    failures.failed(error);
  } finally {
    address.settle();
  }
}

async function runningEngine(
  parts: EnsureRunningParts,
  manifest: Manifest,
  isUrgent: boolean,
): Promise<Running> {
  const { lifecycle, file, runner, address } = parts;
  if (runner.isEnding) await finishStop(parts);
  const runnable = await runner.choose(manifest);
  if (file.manifest?.state === "changed" || runnable.engine.isOutdated?.(runnable.context))
    await stopPrevious(parts, runnable);
  const found = runner.process;
  if (found === null) return await start(parts, { owner: startOwnerOf(manifest.spec), isUrgent });
  address.admit();
  if (lifecycle.state.name !== "running") {
    lifecycle.report({ type: "launching" });
    await runner.untilReady(runnable, found);
  }
  return { runnable, process: found };
}

/** An earlier host has asked the engine to end, as for a change: it serves nobody any more, and another follows it. */
async function finishStop({ lifecycle, runner }: EnsureRunningParts): Promise<void> {
  await runner.stop();
  if (lifecycle.isLeaving) throw new PublicError("The engine is being stopped.");
}

/**
 * Stops a running engine whose files have changed, which it reads only at its start, or whose data is to be replaced.
 * @throws UnsavedDataError when it goes on.
 */
async function stopPrevious(
  { lifecycle, file, runner }: EnsureRunningParts,
  runnable: Runnable,
): Promise<void> {
  const isDue = !runner.isAsWritten(runnable) || (file.manifest !== null && isAdoptionDue(file.manifest));
  if (isDue && (await runner.stopPrevious(runnable))) lifecycle.report({ type: "stopped" });
  await file.change({ state: "awake" });
}

async function start(
  parts: EnsureRunningParts,
  request: Pick<StartRequest, "owner" | "isUrgent">,
): Promise<Running> {
  const { lifecycle, file, runner, sleep, starts, leaving } = parts;
  lifecycle.report({ type: "launching" });
  await failpoint("host.start.due");
  // Before a place is taken, since the other instance may wait for one.
  await parts.makeWay();
  await parts.adopt();
  const leave = await starts.enter({ ...request, signal: leaving });
  try {
    await sleep.takeAddress();
    const { manifest } = file;
    if (manifest === null) throw new PublicError("The instance is gone.");
    const runnable = await runner.choose(manifest);
    await parts.makeWay();
    const process = await runner.start(runnable);
    sleep.spawned();
    await runner.untilReady(runnable, process);
    sleep.ready();
    return { runnable, process };
  } finally {
    leave();
  }
}
