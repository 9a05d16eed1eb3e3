// A scenario of the crash matrix of sleep: an instance that falls asleep or wakes, is stopped at a named step, and
// loses a process there.
import { expect } from "bun:test";
import { processesOf } from "../support/pilvi/databases.ts";
import { type Failpoints, type TestPilvi, until } from "../support/pilvi/pilvi.ts";
import { isAlive, killIfThere } from "../support/pilvi/processes.ts";
import { killPilvi } from "./databases-disasters.ts";
import { openSession, type Resource } from "./ledger-sessions.ts";
import { cutPower } from "./power-cut.ts";
import {
  expectAsleep,
  pathOf,
  putToSleep,
  read,
  suspend,
  untilAwake,
  untilSettled,
  type SleepyKind,
} from "./sleepers.ts";

export type Operation = "suspend" | "wake" | "wake anew" | "hand over" | "take back";
/** The process that is killed; the last two are stopped by a signal instead. */
export type Victim =
  | "control"
  | "host"
  | "gateway"
  | "engine"
  | "everything"
  | "host, gently"
  | "Pilvi, gently";

/** An operation, the step where it is stopped, and the victim that is killed there. */
export type Scenario = [operation: Operation, place: string, victim: Victim];

/** What a scenario runs with. */
export interface Stage {
  pilvi: TestPilvi;
  failpoints: Failpoints;
  kind: SleepyKind;
}

const STOPPED = ["host.suspend.ended", "host.suspend.stopped"];
const START = ["host.start.due", "host.start.spawned", "host.ensure.ready"];

const places: Record<Operation, string[]> = {
  suspend: ["host.suspend.draining", "host.suspend.recorded", "host.suspend.detached", ...STOPPED],
  wake: ["host.start.noted", ...START],
  // A host that was started since has probed nothing yet.
  "wake anew": ["host.ensure.folders", "host.ensure.config"],
  "hand over": STOPPED,
  "take back": ["host.ensure.manifest", ...START, "reconcile.ensured", "loop.written"],
};

const victims: Victim[] = [
  "control",
  "host",
  "gateway",
  "engine",
  "everything",
  "host, gently",
  "Pilvi, gently",
];

/** The steps at which there is an engine to kill. */
const HAS_ENGINE = new Set([
  "host.suspend.draining",
  "host.suspend.recorded",
  "host.suspend.detached",
  "host.start.spawned",
  "host.ensure.ready",
  "reconcile.ensured",
  "loop.written",
]);

/** A gentle stop takes long and is the same for all kinds, so it is tried with a database and with a cache. */
const STOPPED_GENTLY = new Set(["Postgres", "a cache that keeps every key"]);

/** All scenarios of a kind in which there is a process to kill; only caches are ever exposed directly. */
export function sleepScenarios(kind: SleepyKind): Scenario[] {
  const isCache = kind.name.includes("cache");
  const all = Object.entries(places) as [Operation, string[]][];
  return all
    .filter(([operation]) => isCache || !["hand over", "take back"].includes(operation))
    .flatMap(([operation, names]) =>
      names.flatMap((place) =>
        victims
          .filter((victim) => victim !== "engine" || HAS_ENGINE.has(place))
          .filter((victim) => !victim.endsWith(", gently") || STOPPED_GENTLY.has(kind.name))
          .map((victim): Scenario => [operation, place, victim]),
      ),
    );
}

/**
 * Runs a scenario, on an instance of its own, and checks that it comes to an end that an undisturbed operation can
 * have.
 */
export async function runScenario(stage: Stage, scenario: Scenario): Promise<void> {
  const { pilvi, kind } = stage;
  const resource = await kind.make(pilvi);
  await write(resource);
  // A cache that may drop keys has them on the disk from its first sleep on.
  if (resource.type === "caches") await putToSleep(pilvi, resource);
  await expectKept(resource);
  if (scenario[0] === "suspend") await playSuspend(stage, resource, scenario);
  else if (scenario[0] === "hand over") await playHandOver(stage, resource, scenario);
  else if (scenario[0] === "take back") await playTakeBack(stage, resource, scenario);
  else await playWake(stage, resource, scenario);
  await pilvi.api("DELETE", pathOf(resource));
  expect((await pilvi.api("GET", `${pathOf(resource)}?wait=deleted`)).status).toBe(404);
  stage.failpoints.letPass(resource.id);
  expect(pilvi.enginePids(resource.id)).toEqual([]);
}

async function playSuspend(stage: Stage, resource: Resource, [, place, victim]: Scenario): Promise<void> {
  const { pilvi, failpoints } = stage;
  failpoints.arm(place);
  const asked = suspend(pilvi, resource).catch(() => null);
  await killAt(stage, resource, victim);
  await asked;
  await untilEnd(pilvi, resource, endOf(place, victim));
  await putToSleep(pilvi, resource);
  const { wakes } = (await read(pilvi, resource)).meta.sleep;
  await untilKept(resource);
  await untilAwake(pilvi, resource);
  expect((await read(pilvi, resource)).meta.sleep.wakes).toBe(wakes + 1);
}

/** The state after a kill on the way to sleep; undefined where both states are right. */
function endOf(place: string, victim: Victim): "asleep" | "awake" | undefined {
  if (STOPPED.includes(place) || victim === "control") return "asleep";
  // Stopped by a signal, the host abandons a suspend that it can still abandon.
  if (victim.endsWith("gently")) return undefined;
  // A frozen gateway may have clients that it did not disconnect from the engine.
  if (victim === "gateway") return undefined;
  // A requested suspend is begun again after a kill.
  if (place === "host.suspend.draining") return victim === "engine" ? "awake" : undefined;
  // An engine that is killed just before its stop has ended all the same.
  return victim === "engine" ? undefined : "asleep";
}

async function playWake(
  stage: Stage,
  resource: Resource,
  [operation, place, victim]: Scenario,
): Promise<void> {
  const { pilvi, failpoints } = stage;
  await putToSleep(pilvi, resource);
  if (operation === "wake anew") await killPilvi(pilvi, ["host"]);
  failpoints.arm(place);
  // A held client is let in in the end, unless the gateway that holds it is killed.
  const first = expectKept(resource).then(
    () => "let in",
    (error: Error) => error.message,
  );
  await killAt(stage, resource, victim);
  const isHolderKilled = ["gateway", "everything", "Pilvi, gently"].includes(victim);
  if (isHolderKilled) await untilKept(resource);
  else expect(await first).toBe("let in");
  await first;
  await untilAwake(pilvi, resource);
  await putToSleep(pilvi, resource);
}

/** A directly exposed cache, which is to sleep from now on. */
async function playHandOver(stage: Stage, resource: Resource, [, place, victim]: Scenario): Promise<void> {
  const { pilvi, failpoints } = stage;
  await wakeForGood(pilvi, resource);
  await change(pilvi, resource, true);
  expect((await read(pilvi, resource)).meta.sleep).toMatchObject({ state: "awake", pending: true });
  failpoints.arm(place);
  const asked = suspend(pilvi, resource).catch(() => null);
  await killAt(stage, resource, victim);
  await asked;
  await untilSettled(pilvi, resource);
  await putToSleep(pilvi, resource);
  expect((await read(pilvi, resource)).meta.sleep.pending).toBe(false);
  await untilKept(resource);
}

/** A cache that sleeps, and is to stay awake from its next wake on. */
async function playTakeBack(stage: Stage, resource: Resource, [, place, victim]: Scenario): Promise<void> {
  const { pilvi, failpoints } = stage;
  await putToSleep(pilvi, resource);
  failpoints.arm(place);
  const asked = pilvi.api("PATCH", pathOf(resource), { uses_hibernation: false }).catch(() => null);
  await killAt(stage, resource, victim);
  // The step may come between the commit and the answer, which a control plane that was killed no longer gives.
  const answers = ["control", "everything", "Pilvi, gently"].includes(victim) ? [200, undefined] : [200];
  expect(answers).toContain((await asked)?.status);
  await until("it listens by itself", async () => {
    const now = await read(pilvi, resource).catch(() => null);
    return now?.attributes.status === "available" && !now.meta.sleep.pending;
  });
  await untilAwake(pilvi, resource);
  await untilKept(resource);
  expect((await suspend(pilvi, resource)).status).toBe(409);
}

/** Turns its sleep off, and wakes it, whereupon it is exposed directly. */
async function wakeForGood(pilvi: TestPilvi, resource: Resource): Promise<void> {
  await putToSleep(pilvi, resource);
  await change(pilvi, resource, false);
  await expectKept(resource);
}

async function change(pilvi: TestPilvi, resource: Resource, hibernates: boolean): Promise<void> {
  await pilvi.api("PATCH", pathOf(resource), { uses_hibernation: hibernates });
  expect((await pilvi.api("GET", `${pathOf(resource)}?wait=available`)).status).toBe(200);
}

/**
 * Waits until the armed fail point is reached, kills there, lets the survivors go on, and waits until Pilvi has
 * recovered.
 */
async function killAt({ pilvi, failpoints }: Stage, { id }: Resource, victim: Victim): Promise<void> {
  const waiting = await failpoints.reached();
  if (victim === "everything") {
    await cutPower(pilvi);
    failpoints.release();
    return await pilvi.start();
  }
  if (victim === "engine") {
    const [pid] = processesOf(pilvi, id);
    expect(pid).toBeDefined();
    killIfThere(pid);
    return failpoints.release();
  }
  if (victim === "Pilvi, gently") return await restart(pilvi, failpoints, waiting);
  if (victim === "host, gently") {
    const former = pilvi.runningPid("host");
    process.kill(former, "SIGTERM");
    failpoints.release();
    await until("the host has ended", () => !isAlive(former));
    return await pilvi.untilReady();
  }
  const whole = killPilvi(pilvi, [victim]);
  failpoints.release();
  await whole;
}

/** The host is stopped last; a host that waits at the step still runs then. */
async function restart(pilvi: TestPilvi, failpoints: Failpoints, waiting: number): Promise<void> {
  const isHost = waiting === pilvi.pidOf("host");
  const stopped = pilvi.stop();
  await until("only the host is left", () => {
    const others = (["control", "gateway"] as const).map((name) => pilvi.pidOf(name));
    return !isHost || others.every((pid) => pid === undefined);
  });
  failpoints.release();
  await stopped;
  await pilvi.start();
}

async function untilEnd(pilvi: TestPilvi, resource: Resource, end?: "asleep" | "awake"): Promise<void> {
  let state = await untilSettled(pilvi, resource);
  // The next host has to learn first that a running engine is to sleep.
  await until(`it is ${end}`, async () => {
    state = await untilSettled(pilvi, resource);
    return end === undefined || state === end;
  });
  // Where both states are right, the next host may still suspend it, as the host before had begun to.
  if (end === undefined && state === "awake") return;
  if (state === "asleep") await expectAsleep(pilvi, resource);
  else await untilAwake(pilvi, resource);
}

async function write(resource: Resource): Promise<void> {
  const session = await openSession(resource);
  await session.prepare();
  await session.add(42);
  await session.end();
}

/** Logs in, once, and finds the written data. */
async function expectKept(resource: Resource): Promise<void> {
  const session = await openSession(resource);
  const numbers = await session.numbers().finally(() => session.end());
  expect(numbers).toEqual([42]);
}

/** The same, for clients that were refused or disconnected. */
async function untilKept(resource: Resource): Promise<void> {
  await until(`${resource.id} lets somebody in`, () =>
    expectKept(resource).then(
      () => true,
      () => false,
    ),
  );
}
