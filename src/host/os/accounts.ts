// Which user each process runs as. Started by root, every instance gets a uid of its own; otherwise all share the user's.
import { readFileSync } from "node:fs";
import type { InstanceSpec } from "../../drivers/driver.ts";
import type { Account } from "../../engines/engine.ts";
import { PublicError } from "../../lib/errors.ts";

/** Uids from here on are Pilvi's: its own processes first, then the store, then one for each port. */
const FIRST_UID = 30_000;

/** The user of the control plane. */
export const CONTROL_ACCOUNT: Account = { uid: FIRST_UID, gid: FIRST_UID };

/** The user of the gateway, which reaches engines through their unix sockets and none of their files. */
export const GATEWAY_ACCOUNT: Account = { uid: FIRST_UID + 1, gid: FIRST_UID + 1 };

/** The user that the first instance without a port gets, which is the store. */
const PORTLESS_ACCOUNT: Account = { uid: FIRST_UID + 2, gid: FIRST_UID + 2 };

/** The user that first data is made as, and that data belongs to until an instance gets it. Nobody else is it. */
export const BUILD_ACCOUNT: Account = { uid: FIRST_UID + 3, gid: FIRST_UID + 3 };

/** Ports give a uid each, of which these are others': systemd's for services, `nobody`, and the number that stands for no user. */
const FOREIGN_UIDS = { first: 61_184, last: 65_535 };
/** Beyond all ports, and below the uids that users are given for containers of their own. */
const INSTEAD_OF_FOREIGN = FIRST_UID + 65_536;
const LAST_UID = INSTEAD_OF_FOREIGN + FOREIGN_UIDS.last - FOREIGN_UIDS.first;

/** Whether processes can be given users of their own here. */
export function canSwitchUsers(): boolean {
  return process.getuid?.() === 0;
}

/** What tells the user of an instance. */
export interface UserOfInstance {
  spec: Pick<InstanceSpec, "exposure">;
  uid: number | null;
}

/** The user of an instance; null where processes cannot be given users of their own. */
export function accountOf(manifest: UserOfInstance): Account | null {
  if (!canSwitchUsers()) return null;
  const uid = uidOf(manifest);
  return { uid, gid: uid };
}

/** The uid of an instance: the one that it was given, or the one that earlier releases made of its port. */
export function uidOf({ spec: { exposure }, uid }: UserOfInstance): number {
  return uid ?? (exposure.port === null ? PORTLESS_ACCOUNT.uid : uidOfPort(exposure.port));
}

/**
 * Chooses the uid of a new instance, which nobody else is known to have: no other instance, no user or group of the system. The
 * one that follows from the port comes first, since no two Pilvis of a machine have the same port.
 * @param taken the uids of all other instances of this host.
 * @throws PublicError when all are taken.
 */
export function allotUid(
  spec: Pick<InstanceSpec, "exposure">,
  taken: ReadonlySet<number>,
  ofSystem = systemIds(),
): number {
  const isFree = (uid: number) => !taken.has(uid) && !ofSystem.has(uid);
  const preferred = uidOf({ spec, uid: null });
  if (isFree(preferred)) return preferred;
  for (let uid = LAST_UID; isInstanceUid(uid) || isForeign(uid); uid -= 1) {
    if (!isForeign(uid) && isFree(uid)) return uid;
  }
  throw new PublicError("No user is left on this machine for another instance.");
}

/** The ids of the users and groups that the machine knows. */
function systemIds(): Set<number> {
  const lines = ["/etc/passwd", "/etc/group"].flatMap((path) => readFileSync(path, "utf8").split("\n"));
  // A line of either is `name:password:id:` and more.
  return new Set(lines.map((line) => Number(line.split(":")[2])));
}

/** The uid that is preferred for an instance with the port; no two ports have the same, and none has one that anybody else is known to have. */
export function uidOfPort(port: number): number {
  const uid = FIRST_UID + port;
  return isForeign(uid) ? INSTEAD_OF_FOREIGN + uid - FOREIGN_UIDS.first : uid;
}

function isForeign(uid: number): boolean {
  return uid >= FOREIGN_UIDS.first && uid <= FOREIGN_UIDS.last;
}

/** Who else reaches the unix socket of an instance: the gateway those of customers, the control plane its store's. */
export function socketGroupOf({ exposure }: InstanceSpec): Account {
  return exposure.port === null ? CONTROL_ACCOUNT : GATEWAY_ACCOUNT;
}

/** Whether the user is the one of a single instance with a port. */
export function isInstanceUid(uid: number): boolean {
  return uid > BUILD_ACCOUNT.uid && uid <= LAST_UID && !isForeign(uid);
}
