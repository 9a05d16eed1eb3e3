// What a new spec means for an instance: what the manifest keeps, and whether the change needs a running engine.
import { isDeepStrictEqual } from "node:util";
import { adoptedBy, type InstanceSpec } from "../../contracts/instance-spec.ts";
import type { Wake, WakeReason } from "../../contracts/sleep.ts";
import type { InstanceUser } from "../../contracts/users.ts";
import { OWN_USER } from "../../contracts/wake-reasons.ts";
import { newPassword } from "../../lib/secrets.ts";
import { withUsersOf } from "./known-users.ts";
import { databasesOf, madeDatabasesAfter } from "./made-databases.ts";
import { neverAsleep, saysAsleep, type Manifest, type PersistedState, type SleepRecord } from "./manifest.ts";

/** The reason of a wake that the owner's change causes. */
export const OWN_REASON: WakeReason = { user: OWN_USER, address: "" };

/** The manifest of an instance with a new spec. @param allot chooses the uid of a new instance. */
export function manifestFor(
  spec: InstanceSpec,
  engine: Manifest["engine"],
  former: Manifest | null,
  allot: (spec: InstanceSpec) => number | null,
): Manifest {
  const madeDatabases = madeDatabasesAfter(spec, former);
  const state = stateWith(spec, former, madeDatabases);
  return {
    ...(former !== null && isStillRestored(spec, former) && { isRestored: true }),
    ...adoptedAfter(spec, former),
    spec,
    state,
    engine,
    uid: former === null ? allot(spec) : former.uid,
    adminPassword: former?.adminPassword ?? newPassword(),
    servedThrough: former?.servedThrough ?? spec.exposure.through,
    madeDatabases,
    sleep: sleepWith(spec, former?.sleep ?? neverAsleep(), saysAsleep(former) && state === "changed"),
  };
}

/** Databases of a later spec are ordered for the restored data, so they are made in it. */
function isStillRestored(spec: InstanceSpec, former: Manifest): boolean {
  return former.isRestored === true && isDeepStrictEqual(databasesOf(spec), databasesOf(former.spec));
}

/** The data of a new instance is from its origin, such as a backup that was made after it took over other data. */
function adoptedAfter(spec: InstanceSpec, former: Manifest | null): Pick<Manifest, "adopted"> {
  const adopted = former === null ? adoptedBy(spec) : former.adopted;
  return adopted === null || adopted === undefined ? {} : { adopted };
}

/** Whether the data of another instance is to take the place of its own. */
export function isAdoptionDue({ spec, adopted }: Pick<Manifest, "spec" | "adopted">): boolean {
  const wanted = adoptedBy(spec);
  return wanted !== null && wanted !== adopted;
}

/** The state with a new spec. */
function stateWith(spec: InstanceSpec, former: Manifest | null, made: string[]): PersistedState {
  if (former === null) return "awake";
  // An engine that runs with the former spec may need a restart. A later host must know that as well.
  const { adopted } = former;
  if (!saysAsleep(former) || isAdoptionDue({ spec, ...(adopted !== undefined && { adopted }) }))
    return "changed";
  if (needsEngine(former.spec, spec, made)) return "changed";
  const isSame = isDeepStrictEqual(contentsOf(former.spec, made), contentsOf(spec, made));
  return isSame ? former.state : "asleep";
}

function sleepWith(spec: InstanceSpec, sleep: SleepRecord, isWoken: boolean): SleepRecord {
  const users = sleep.users === null ? null : withUsersOf(spec, sleep.users);
  return { ...(isWoken ? woken(sleep) : sleep), users };
}

/** The record of a sleep that has ended. */
export function woken(sleep: SleepRecord): SleepRecord {
  return { ...sleep, since: new Date().toISOString(), wakes: sleep.wakes + 1 };
}

/** A wake that no gateway reports. @param latestStart how long the start took. */
export function wakeBy(
  reason: WakeReason,
  at: Date,
  latestStart: { startMs: number; readyMs: number },
): Wake {
  const { startMs: start, readyMs: ready } = latestStart;
  return {
    at: at.toISOString(),
    reason,
    spansMs: { accept: 0, auth: 0, start, ready, login: 0 },
  };
}

/** Whether a change wakes a sleeping instance. The gateway verifies a new password by itself during the sleep. */
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

/** The parts of a spec that are in the data, or must be dropped from it. */
interface SpecContents {
  users: InstanceUser[];
  databases: unknown;
  /** Whether the engine keeps its log for backups: a Postgres has that in its data, and not only in its files. */
  keepsLog: boolean;
}

/** @param made the databases that the host made. */
function contentsOf(spec: InstanceSpec, made: string[]): SpecContents {
  if (!("databases" in spec)) return { users: spec.users, databases: null, keepsLog: false };
  const databases = spec.databases.filter(
    ({ name, desiredState }) => desiredState === "present" || made.includes(name),
  );
  return { users: spec.users, databases, keepsLog: spec.keepsLog === true };
}
