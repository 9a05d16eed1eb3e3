// Puts an instance to sleep, step by step. A step that fails leaves the instance awake as before.
import { BeyondBounds, PersistenceError } from "../../engines/engine-errors.ts";
import { PublicError } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Log } from "../../lib/log.ts";
import type { Copies } from "../backups/copies.ts";
import type { Condition } from "../manifest/instance-state.ts";
import type { EngineProcess } from "../engine/engine-process.ts";
import type { InstanceGateway } from "../gateway/gateway-link.ts";
import type { InstanceAddress } from "../engine/instance-address.ts";
import type { InstanceLifecycle } from "../lifecycle/machine.ts";
import { isApplied } from "../lifecycle/state.ts";
import type { KnownUsers } from "../manifest/known-users.ts";
import type { ManifestFile } from "../manifest/manifest-file.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { ClientProxy } from "./client-proxy.ts";
import { lookAtUsers, restoredSentence, type UsersLook } from "../engine/published-users.ts";
import type { EngineRunner } from "../engine/runner.ts";
import type { Runnable } from "../engine/runner-parts.ts";

/** How long a suspension waits for the users of the instance, in milliseconds. */
interface SuspendTimeouts {
  /** For activity that the engine reports. Other clients go on meanwhile. */
  guardMs: number;
  /** For what is under way in the proxy, which holds new requests meanwhile. */
  drainMs: number;
  /** For all attempts together: an attempt that could end later than this is not begun. */
  totalMs: number;
  /** Whether a client's request during the suspension ends it. */
  isYielding: boolean;
}

/** For an idle instance: no client may notice. */
export const WHEN_IDLE: SuspendTimeouts = { guardMs: 0, drainMs: 2_000, totalMs: 0, isYielding: true };
/** For a suspension that a caller requested and waits for. */
export const WHEN_ASKED: SuspendTimeouts = {
  guardMs: 5_000,
  drainMs: 10_000,
  totalMs: 30_000,
  isYielding: false,
};

/** How long an application may take to end for its sleep, since a client that comes meanwhile waits for that. */
const MAX_END_MS = 10_000;

const GUARD_RETRY_MS = 100;

const MEANWHILE = "A client asked something meanwhile, or the server before the instance does not answer.";

/** The instance to suspend, and all that its suspension needs. */
export interface Sleeper {
  id: string;
  runnable: Runnable;
  process: EngineProcess;
  runner: EngineRunner;
  file: ManifestFile;
  condition: Condition;
  gateway: InstanceGateway;
  /** Null while the engine has clients of its own. */
  proxy: ClientProxy | null;
  address: InstanceAddress;
  users: KnownUsers;
  copies: Copies;
  log: Log;
  lifecycle: InstanceLifecycle;
  /** Aborted when a client needs the engine, or when the instance is stopped or let go. */
  signal: AbortSignal;
  /** Aborted when the instance is stopped or let go. */
  leaving: AbortSignal;
}

/** Suspends the instance. A failure leaves it running. @throws PublicError that says what keeps it awake. */
export async function suspend(sleeper: Sleeper, timeouts: SuspendTimeouts): Promise<void> {
  // A gateway that connected before this host started has clients. Their connections must not be cut.
  await sleeper.gateway.contact;
  const { manifest } = sleeper.file;
  if (manifest === null) throw new PublicError(`${sleeper.id} does not run.`);
  const { proxy } = sleeper;
  try {
    await (proxy === null ? untilUnused(sleeper, timeouts.guardMs) : empty(sleeper, proxy, timeouts));
    if (proxy !== null) await recordAndDetach(sleeper, proxy, timeouts);
    // The hand-over writes the manifest after the engine has ended. This write finds a full disk while it still runs.
    else sleeper.file.note({});
    assertGoesOn(sleeper, timeouts);
    if (proxy === null) sleeper.lifecycle.report({ type: "handOverBegun" });
    await end(sleeper);
  } catch (error) {
    await stayAwake(sleeper, manifest);
    throw error;
  }
  await failpoint("host.suspend.ended");
  if (proxy === null) await handOver(sleeper);
  else noteAsleep(sleeper);
  await failpoint("host.suspend.stopped");
  sleeper.condition.lastError = null;
  sleeper.condition.notice("idle-probe", null);
  sleeper.lifecycle.report({ type: "suspended" });
}

/** Waits until the engine is unused and nothing is under way in the proxy. */
async function empty(
  sleeper: Sleeper,
  proxy: ClientProxy,
  { guardMs, drainMs, totalMs, isYielding }: SuspendTimeouts,
): Promise<void> {
  const giveUpAt = performance.now() + totalMs;
  for (;;) {
    await untilUnused(sleeper, guardMs);
    assertUnwanted(sleeper);
    sleeper.lifecycle.report({ type: "drainBegun" });
    await failpoint("host.suspend.draining");
    const drained = proxy.drain(sleeper.id, drainMs, isYielding);
    const isDrained = await unlessWanted(sleeper, drained);
    const reason = await blockingActivity(sleeper);
    if (isDrained && reason === null) return;
    if (performance.now() + guardMs + drainMs >= giveUpAt)
      throw new PublicError(reason ?? "A client is in the middle of something.");
    assertUnwanted(sleeper);
    // The clients that the proxy holds go on before the next attempt.
    sleeper.lifecycle.report({ type: "drainEnded" });
  }
}

/** Waits until the engine reports no activity. @throws PublicError when it is still in use at the end. */
async function untilUnused(sleeper: Sleeper, guardMs: number): Promise<void> {
  const giveUpAt = performance.now() + guardMs;
  for (;;) {
    const reason = await blockingActivity(sleeper);
    if (reason === null) return;
    if (performance.now() >= giveUpAt) throw new PublicError(reason);
    await Bun.sleep(GUARD_RETRY_MS);
  }
}

/**
 * Once the manifest records the sleep, every later host sees an instance that sleeps. Once the proxy has detached,
 * the engine's stop cuts off no client.
 */
async function recordAndDetach(
  sleeper: Sleeper,
  proxy: ClientProxy,
  timeouts: SuspendTimeouts,
): Promise<void> {
  const begunAtMs = performance.now();
  const look = await lookAtUsers(sleeper.runnable);
  if (look !== null) reportRestored(sleeper, look);
  const found = look?.users ?? { users: sleeper.runnable.context.spec.users, leftOut: 0 };
  const { users, leftOut: usersLeftOut } = sleeper.users.set(found, begunAtMs);
  assertGoesOn(sleeper, timeouts);
  await sleeper.file.enter("asleep", { since: new Date().toISOString(), users, usersLeftOut });
  sleeper.lifecycle.report({ type: "sleepRecorded" });
  await failpoint("host.suspend.recorded");
  assertGoesOn(sleeper, timeouts);
  if (!(await proxy.detach(sleeper.id))) throw new PublicError(MEANWHILE);
  await failpoint("host.suspend.detached");
}

async function end({ runner, runnable, process, condition }: Sleeper): Promise<void> {
  if (await endForSleep(runner, runnable, process)) return;
  throw reportToOwner(
    condition,
    new PublicError("The data could not be saved, so the instance was not stopped."),
  );
}

/**
 * Ends the engine of an instance whose manifest says that it sleeps. An application has no data of its own, so it is
 * killed when it does not end.
 * @returns false when the engine cannot save its data, and goes on.
 */
export async function endForSleep(
  runner: EngineRunner,
  runnable: Runnable,
  process: EngineProcess,
): Promise<boolean> {
  if (runnable.context.spec.kind !== "application") return await runner.end(runnable, process);
  await runner.stop({ withinMs: MAX_END_MS });
  return true;
}

/** Shows the owner, in the observation as well, what keeps the instance awake. */
function reportToOwner(condition: Condition, error: PublicError): PublicError {
  condition.lastError = error.message;
  condition.changed();
  return error;
}

/** From here on new clients wait for the gateway, which learns of the instance in a moment. */
async function handOver({ file, lifecycle, runnable, address }: Sleeper): Promise<void> {
  const { manifest } = file;
  if (manifest === null) return;
  const { users } = runnable.context.spec;
  const sleep = { ...manifest.sleep, since: new Date().toISOString(), users };
  const state = isApplied(lifecycle.state) ? "asleepApplied" : "asleep";
  await file.change({ state, servedThrough: "gateway", sleep });
  await address.hold();
}

/**
 * Records that the engine ended cleanly with the spec applied. The manifest already says "asleep", so a failure here is
 * harmless: the next start applies users and databases once more.
 */
function noteAsleep({ file, log, lifecycle }: Sleeper): void {
  if (!isApplied(lifecycle.state)) return;
  try {
    file.note({ state: "asleepApplied" });
  } catch (error) {
    log.warn({ error }, "it could not be noted that all is in the data");
  }
}

/** Notifies the owner of users that differed from the spec. Before the spec is applied, a difference is no fault. */
export function reportRestored(
  { lifecycle, condition, log }: Pick<Sleeper, "lifecycle" | "condition" | "log">,
  { restored }: UsersLook,
): void {
  if (restored.length === 0 || !isApplied(lifecycle.state)) return;
  log.warn({ users: restored }, "users that were changed by SQL were set again");
  condition.notice("users", restoredSentence(restored));
}

/** Returns to the awake state. The exit handler restarts an engine that ended meanwhile. */
async function stayAwake(
  { file, runner, process, lifecycle, log }: Sleeper,
  { state, sleep: { since } }: Manifest,
): Promise<void> {
  try {
    if (file.isAsleep) await file.enter(state, { since });
  } catch (error) {
    // The next host finds the engine running, and suspends it again if it may.
    log.error({ error }, "a sleep that did not come about could not be taken back");
  }
  if (runner.process === process) lifecycle.report({ type: "suspendFailed" });
}

async function blockingActivity({
  id,
  copies,
  runnable: { engine, context },
  condition,
}: Sleeper): Promise<string | null> {
  try {
    // The customer can end what the engine reports, and a backup ends by itself.
    return (await engine.blockingActivity?.(context)) ?? copies.reasonToStayAwake(id);
  } catch (error) {
    if (error instanceof PersistenceError || error instanceof BeyondBounds)
      throw reportToOwner(condition, error);
    throw new PublicError("The engine did not report whether it is in use.", error);
  }
}

async function unlessWanted<T>(sleeper: Sleeper, wait: Promise<T>): Promise<T> {
  const { signal } = sleeper;
  const wanted = Promise.withResolvers<void>();
  const onAbort = () => wanted.resolve();
  signal.addEventListener("abort", onAbort);
  await Promise.race([wait, wanted.promise]);
  signal.removeEventListener("abort", onAbort);
  assertUnwanted(sleeper);
  return await wait;
}

function assertUnwanted(sleeper: Sleeper): void {
  if (sleeper.signal.aborted) throw new PublicError("A client came back.");
  assertRuns(sleeper);
}

/**
 * Checks that the suspension may go on. A requested suspension with nothing under way completes even when a busy client
 * returns: a client that sends its next command as soon as it is disconnected wakes the instance afterwards.
 */
function assertGoesOn(sleeper: Sleeper, { isYielding }: SuspendTimeouts): void {
  if (isYielding || sleeper.leaving.aborted) return assertUnwanted(sleeper);
  assertRuns(sleeper);
}

function assertRuns({ runner, process }: Sleeper): void {
  if (runner.process !== process) throw new PublicError("The engine ended before it could be stopped.");
}
