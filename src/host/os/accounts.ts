// The user of each process. Under root every database, cache and the like gets a uid of its own, and so does every
// environment, for all its applications, builds and commands; otherwise all share the host's.
import { readFileSync } from "node:fs";
import type { InstanceSpec } from "../../contracts/instance-spec.ts";
import type { Account } from "../../engines/engine.ts";
import { PublicError } from "../../lib/errors.ts";

/** Uids from here on are Pilvi's: first its own processes, then the store, then one uid for each port. */
const FIRST_UID = 30_000;

/** The user of the control plane. */
export const CONTROL_ACCOUNT: Account = { uid: FIRST_UID, gid: FIRST_UID };

/** The user of the gateway, which may reach the unix sockets of engines and none of their files. */
export const GATEWAY_ACCOUNT: Account = { uid: FIRST_UID + 1, gid: FIRST_UID + 1 };

/** The user of the first instance without a port, which is the store. */
const PORTLESS_ACCOUNT: Account = { uid: FIRST_UID + 2, gid: FIRST_UID + 2 };

/** The user that builds first data, and owns it until an instance gets it. No other process has this uid. */
export const BUILD_ACCOUNT: Account = { uid: FIRST_UID + 3, gid: FIRST_UID + 3 };

/** The user of the keeper, which stores backups: it reads the logs of instances and can change none of their files. */
export const KEEPER_ACCOUNT: Account = { uid: FIRST_UID + 4, gid: FIRST_UID + 4 };

/** Uids that would follow from ports but belong to systemd's services, to `nobody`, and to the number for no user. */
const FOREIGN_UIDS = { first: 61_184, last: 65_535 };
/** The replacements lie beyond all ports, and below the uids for containers of users. */
const INSTEAD_OF_FOREIGN = FIRST_UID + 65_536;
const LAST_UID = INSTEAD_OF_FOREIGN + FOREIGN_UIDS.last - FOREIGN_UIDS.first;

/** Whether this process may start others as other users. */
export function canSwitchUsers(): boolean {
  return process.getuid?.() === 0;
}

/** The parts of a manifest that decide the user of an instance. */
interface UserOfInstance {
  spec: Pick<InstanceSpec, "exposure">;
  uid: number | null;
}

/** The user of an instance; null where processes cannot have users of their own. */
export function accountOf(manifest: UserOfInstance): Account | null {
  if (!canSwitchUsers()) return null;
  const uid = uidOf(manifest);
  return { uid, gid: uid };
}

/** The uid of an instance: the allotted uid, or the uid that earlier releases derived from the port. */
export function uidOf({ spec: { exposure }, uid }: UserOfInstance): number {
  return uid ?? (exposure.port === null ? PORTLESS_ACCOUNT.uid : uidOfPort(exposure.port));
}

/**
 * Chooses the uid of a new instance: a uid of no other instance, user or group of the system. The uid that follows from
 * the port comes first, since no two Pilvis of a machine have the same port.
 * @param taken the uids of all other instances of this host.
 * @throws PublicError when all are taken.
 */
export function allotUid(
  spec: Pick<InstanceSpec, "exposure">,
  taken: Pick<ReadonlySet<number>, "has">,
  ofSystem = systemIds(),
): number {
  const isFree = (uid: number) => !taken.has(uid) && !ofSystem.has(uid);
  const preferred = uidOf({ spec, uid: null });
  return isFree(preferred) ? preferred : lastFreeUid(isFree);
}

/**
 * Chooses the uid of a new environment, which all its instances and builds share.
 * @param taken the uids of all instances and other environments of this host.
 * @param place a number that other Pilvis of this machine do not have: rules for a uid are rules for all its processes.
 * @throws PublicError when all are taken.
 */
export function allotEnvironmentUid(
  taken: Pick<ReadonlySet<number>, "has">,
  place: number,
  ofSystem = systemIds(),
): number {
  const isFree = (uid: number) => !taken.has(uid) && !ofSystem.has(uid);
  return lastFreeUid(isFree, LAST_UID - (place % (LAST_UID - INSTEAD_OF_FOREIGN)));
}

function lastFreeUid(isFree: (uid: number) => boolean, last = LAST_UID): number {
  for (let uid = last; isInstanceUid(uid) || isForeign(uid); uid -= 1) {
    if (!isForeign(uid) && isFree(uid)) return uid;
  }
  throw new PublicError("No user is left on this machine for another instance.");
}

/** The ids of all users and groups of the machine. */
function systemIds(): Set<number> {
  const lines = ["/etc/passwd", "/etc/group"].flatMap((path) => readFileSync(path, "utf8").split("\n"));
  // A line of either file starts with `name:password:id:`.
  return new Set(lines.map((line) => Number(line.split(":")[2])));
}

/** The preferred uid for a port. No two ports have the same uid, and no port has a known foreign uid. */
export function uidOfPort(port: number): number {
  const uid = FIRST_UID + port;
  return isForeign(uid) ? INSTEAD_OF_FOREIGN + uid - FOREIGN_UIDS.first : uid;
}

function isForeign(uid: number): boolean {
  return uid >= FOREIGN_UIDS.first && uid <= FOREIGN_UIDS.last;
}

/** The other user of an instance's unix socket: the gateway, or the control plane for the store. */
export function socketGroupOf({ exposure }: InstanceSpec): Account {
  return exposure.port === null ? CONTROL_ACCOUNT : GATEWAY_ACCOUNT;
}

/** Whether the uid can belong to an instance with a port. */
export function isInstanceUid(uid: number): boolean {
  return uid > KEEPER_ACCOUNT.uid && uid <= LAST_UID && !isForeign(uid);
}
