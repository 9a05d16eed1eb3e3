// How an instance falls asleep: step by step, and awake as before when a step cannot be done.
import { BeyondBounds, PersistenceError } from "../../engines/engine.ts";
import { PublicError } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Log } from "../../lib/log.ts";
import type { Condition } from "../manifest/instance-state.ts";
import type { EngineProcess } from "../engine/engine-process.ts";
import type { InstanceGateway } from "../gateway/gateway-link.ts";
import type { InstanceAddress } from "../engine/instance-address.ts";
import type { InstanceLifecycle } from "../lifecycle/machine.ts";
import { isApplied } from "../lifecycle/state.ts";
import type { KnownUsers } from "../manifest/known-users.ts";
import type { ManifestFile } from "../manifest/manifest-file.ts";
import { lookAtUsers, restoredSentence, type UsersLook } from "../engine/published-users.ts";
import type { EngineRunner, Runnable } from "../engine/runner.ts";

/** How long those who use the instance are waited for, in milliseconds. */
export interface SuspendTimeouts {
  /** For those that the engine tells of, while nobody else is held up. */
  guardMs: number;
  /** For what is under way in the gateway, which holds whoever comes. */
  drainMs: number;
  /** For all of it: it is begun again unless that could take longer. */
  totalMs: number;
  /** Whether a client that has something to say meanwhile comes first. */
  isYielding: boolean;
}

/** Nobody asked for it, so nobody is to notice. */
export const WHEN_QUIET: SuspendTimeouts = { guardMs: 0, drainMs: 2_000, totalMs: 0, isYielding: true };
/** Somebody asked for it, and waits. */
export const WHEN_ASKED: SuspendTimeouts = {
  guardMs: 5_000,
  drainMs: 10_000,
  totalMs: 30_000,
  isYielding: false,
};

const GUARD_RETRY_MS = 100;

const MEANWHILE = "A client asked something meanwhile, or the gateway does not answer.";

/** Who is to fall asleep, and what it takes. */
export interface Sleeper {
  id: string;
  runnable: Runnable;
  process: EngineProcess;
  runner: EngineRunner;
  file: ManifestFile;
  condition: Condition;
  gateway: InstanceGateway;
  address: InstanceAddress;
  users: KnownUsers;
  log: Log;
  lifecycle: InstanceLifecycle;
  /** Aborted when somebody needs the engine, or nobody is to have it any more. */
  signal: AbortSignal;
  /** Aborted when nobody is to have it any more. */
  leaving: AbortSignal;
}

/**
 * Has it fall asleep; whatever stops that leaves it running.
 * @throws PublicError that says what keeps it awake.
 */
export async function suspend(sleeper: Sleeper, timeouts: SuspendTimeouts): Promise<void> {
  // A gateway that was there before this host has clients that are not to be cut off.
  await sleeper.gateway.contact;
  const { manifest } = sleeper.file;
  if (manifest === null) throw new PublicError(`${sleeper.id} does not run.`);
  const isBehindGateway = manifest.servedThrough === "gateway";
  try {
    await (isBehindGateway ? empty(sleeper, timeouts) : untilUnused(sleeper, timeouts.guardMs));
    if (isBehindGateway) await recordAndDetach(sleeper, timeouts);
    // A disk that does not take the manifest is found out while the engine runs, for it is handed over with none.
    else sleeper.file.note({});
    assertGoesOn(sleeper, timeouts);
    if (!isBehindGateway) sleeper.lifecycle.report({ type: "handOverBegun" });
    await end(sleeper);
  } catch (error) {
    await stayAwake(sleeper, manifest.sleep.since);
    throw error;
  }
  await failpoint("host.suspend.ended");
  if (!isBehindGateway) await handOver(sleeper);
  else noteAsleep(sleeper);
  await failpoint("host.suspend.stopped");
  sleeper.condition.lastError = null;
  sleeper.lifecycle.report({ type: "suspended" });
}

/** Waits until nobody uses the engine and nothing is under way in the gateway. */
async function empty(
  sleeper: Sleeper,
  { guardMs, drainMs, totalMs, isYielding }: SuspendTimeouts,
): Promise<void> {
  const giveUpAt = performance.now() + totalMs;
  for (;;) {
    await untilUnused(sleeper, guardMs);
    assertUnwanted(sleeper);
    sleeper.lifecycle.report({ type: "drainBegun" });
    await failpoint("host.suspend.draining");
    const drained = sleeper.gateway.drain(sleeper.id, drainMs, isYielding);
    const isDrained = await unlessWanted(sleeper, drained);
    const reason = await blockingActivity(sleeper);
    if (isDrained && reason === null) return;
    if (performance.now() + guardMs + drainMs >= giveUpAt)
      throw new PublicError(reason ?? "A client is in the middle of something.");
    assertUnwanted(sleeper);
    // Those that are held may go on before the next attempt.
    sleeper.lifecycle.report({ type: "drainEnded" });
  }
}

/** Waits until the engine knows of nobody who uses it. @throws PublicError when somebody still does. */
async function untilUnused(sleeper: Sleeper, guardMs: number): Promise<void> {
  const giveUpAt = performance.now() + guardMs;
  for (;;) {
    const reason = await blockingActivity(sleeper);
    if (reason === null) return;
    if (performance.now() >= giveUpAt) throw new PublicError(reason);
    await Bun.sleep(GUARD_RETRY_MS);
  }
}

/** From the record on it sleeps, for whichever host comes; from the detachment on no client is cut off by its stop. */
async function recordAndDetach(sleeper: Sleeper, timeouts: SuspendTimeouts): Promise<void> {
  const look = await lookAtUsers(sleeper.runnable);
  if (look !== null) tellOfRestored(sleeper, look);
  const told = look?.users ?? { users: sleeper.runnable.context.spec.users, leftOut: 0 };
  const { users, leftOut: usersLeftOut } = sleeper.users.set(told);
  assertGoesOn(sleeper, timeouts);
  await sleeper.file.enter("suspending", { since: new Date().toISOString(), users, usersLeftOut });
  sleeper.lifecycle.report({ type: "sleepRecorded" });
  await failpoint("host.suspend.recorded");
  assertGoesOn(sleeper, timeouts);
  if (!(await sleeper.gateway.detach(sleeper.id))) throw new PublicError(MEANWHILE);
  await failpoint("host.suspend.detached");
}

async function end({ runner, runnable, process, condition }: Sleeper): Promise<void> {
  if (await runner.end(runnable, process)) return;
  throw tellOwner(
    condition,
    new PublicError("The data could not be saved, so the instance was not stopped."),
  );
}

/** What keeps it awake is shown with the instance as well, to whoever can do something about it. */
function tellOwner(condition: Condition, error: PublicError): PublicError {
  condition.lastError = error.message;
  condition.changed();
  return error;
}

/** Whoever comes from here on waits for the gateway, which hears of the instance in a moment. */
async function handOver({ file, runnable, address }: Sleeper): Promise<void> {
  const { manifest } = file;
  if (manifest === null) return;
  const { users } = runnable.context.spec;
  const sleep = { ...manifest.sleep, since: new Date().toISOString(), users };
  await file.change({ state: "asleep", servedThrough: "gateway", isSettled: true, sleep });
  await address.hold();
}

/** The manifest says already that it is being suspended. Without more, the next start does once more what is done; it sleeps all the same. */
function noteAsleep({ file, log, lifecycle }: Sleeper): void {
  try {
    file.note({ state: "asleep", ...(isApplied(lifecycle.state) && { isSettled: true }) });
  } catch (error) {
    log.warn({ error }, "it could not be noted that all is in the data");
  }
}

/** Users that were not as the spec says are its owner's to know of; before the spec has been applied they cannot be. */
export function tellOfRestored(
  { lifecycle, condition, log }: Pick<Sleeper, "lifecycle" | "condition" | "log">,
  { restored }: UsersLook,
): void {
  if (restored.length === 0 || !isApplied(lifecycle.state)) return;
  log.warn({ users: restored }, "users that were changed by SQL were set again");
  condition.notice("users", restoredSentence(restored));
}

/** An engine that ended meanwhile is started again by whoever noticed. */
async function stayAwake({ file, runner, process, lifecycle, log }: Sleeper, since: string): Promise<void> {
  try {
    if (file.isAsleep) await file.enter("awake", { since });
  } catch (error) {
    // The next host sees that it runs, and has it fall asleep if it may.
    log.error({ error }, "a sleep that did not come about could not be taken back");
  }
  if (runner.process === process) lifecycle.report({ type: "suspendFailed" });
}

async function blockingActivity({
  runnable: { engine, context },
  condition,
}: Sleeper): Promise<string | null> {
  try {
    return (await engine.blockingActivity?.(context)) ?? null;
  } catch (error) {
    if (error instanceof PersistenceError || error instanceof BeyondBounds) throw tellOwner(condition, error);
    throw new PublicError("The engine did not tell whether it is in use.", error);
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
 * With nothing under way any more, a sleep that was asked for comes about: a busy client, which asks again as soon as it is parted from the
 * engine, wakes it after.
 */
function assertGoesOn(sleeper: Sleeper, { isYielding }: SuspendTimeouts): void {
  if (isYielding || sleeper.leaving.aborted) return assertUnwanted(sleeper);
  assertRuns(sleeper);
}

function assertRuns({ runner, process }: Sleeper): void {
  if (runner.process !== process) throw new PublicError("The engine ended before it could be stopped.");
}
