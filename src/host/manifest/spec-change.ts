// What a changed spec means for an instance: what is kept of the former manifest, and whether it takes an engine.
import { isDeepStrictEqual } from "node:util";
import type { InstanceSpec, InstanceUser } from "../../drivers/driver.ts";
import { newPassword } from "../../lib/secrets.ts";
import { withUsersOf } from "./known-users.ts";
import { madeDatabasesAfter } from "./made-databases.ts";
import { neverAsleep, saysAsleep, type Manifest, type SleepRecord } from "./manifest.ts";

/** Who wakes an instance for a wish of its owner. */
const OWN_REASON = { user: "pilvi", address: "" };

/** The manifest of an instance whose wish is the spec from now on. @param allot gives a new one its user. */
export function manifestFor(
  spec: InstanceSpec,
  engine: Manifest["engine"],
  former: Manifest | null,
  allot: (spec: InstanceSpec) => number | null,
): Manifest {
  const madeDatabases = madeDatabasesAfter(spec, former);
  const wasAsleep = saysAsleep(former);
  const isWoken = wasAsleep && former !== null && needsEngine(former.spec, spec, madeDatabases);
  return {
    spec,
    state: wasAsleep && !isWoken ? "asleep" : "awake",
    engine,
    uid: former === null ? allot(spec) : former.uid,
    adminPassword: former?.adminPassword ?? newPassword(),
    // An engine that was started with the former spec may have to be started anew, which a later host must know as well.
    isReplaced: former !== null && !wasAsleep,
    servedThrough: former?.servedThrough ?? spec.exposure.through,
    isSettled:
      former !== null &&
      former.isSettled &&
      isDeepStrictEqual(contentsOf(former.spec, madeDatabases), contentsOf(spec, madeDatabases)),
    madeDatabases,
    sleep: sleepWith(spec, former?.sleep ?? neverAsleep(), isWoken),
  };
}

function sleepWith(spec: InstanceSpec, sleep: SleepRecord, isWoken: boolean): SleepRecord {
  const users = sleep.users === null ? null : withUsersOf(spec, sleep.users);
  return { ...(isWoken ? woken(sleep) : sleep), users };
}

/** A sleep that has come to its end. */
export function woken(sleep: SleepRecord): SleepRecord {
  return { ...sleep, since: new Date().toISOString(), wakes: sleep.wakes + 1 };
}

/** The wake of an instance whose owner wished for what takes its engine. @param latestStart how long its start took. */
export function ownWake(
  at: Date,
  latestStart: { startMs: number; readyMs: number },
): SleepRecord["lastWake"] {
  const { startMs: start, readyMs: ready } = latestStart;
  return {
    at: at.toISOString(),
    reason: OWN_REASON,
    spansMs: { accept: 0, auth: 0, start, ready, login: 0 },
  };
}

/** Whether a sleeping instance has to be woken for a change. A new password is verified by the gateway until it wakes. */
function needsEngine(former: InstanceSpec, spec: InstanceSpec, made: string[]): boolean {
  if (spec.exposure.through === "engine" && former.exposure.through === "gateway") return true;
  return (
    !isDeepStrictEqual(namesOf(former), namesOf(spec)) ||
    !isDeepStrictEqual(contentsOf(former, made).databases, contentsOf(spec, made).databases)
  );
}

function namesOf({ users }: InstanceSpec): string[] {
  return users.map(({ name }) => name);
}

/** What of a spec is in the data, or is still to be dropped from it. @param made the databases that are the host's. */
function contentsOf(spec: InstanceSpec, made: string[]): { users: InstanceUser[]; databases: unknown } {
  if (!("databases" in spec)) return { users: spec.users, databases: null };
  const databases = spec.databases.filter(({ name, wish }) => wish === "present" || made.includes(name));
  return { users: spec.users, databases };
}
