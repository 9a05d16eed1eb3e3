// Which user each process runs as. Started by root, every instance gets a uid of its own; otherwise all share the user's.
import type { InstanceSpec } from "../../drivers/driver.ts";
import type { Account } from "../../engines/engine.ts";

/** Uids from here on are Pilvi's: its own processes first, then the store, then one for each port. */
const FIRST_UID = 30_000;

/** The user of the control plane. */
export const CONTROL_ACCOUNT: Account = { uid: FIRST_UID, gid: FIRST_UID };

/** The user of the gateway, which reaches engines through their unix sockets and none of their files. */
export const GATEWAY_ACCOUNT: Account = { uid: FIRST_UID + 1, gid: FIRST_UID + 1 };

/** The user of instances without a port, of which there is one: the store. */
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

/** The user of an instance. A port is one instance's for life, so the uid made of it is as well. */
export function accountOf(spec: InstanceSpec): Account | null {
  if (!canSwitchUsers()) return null;
  if (spec.exposure.port === null) return PORTLESS_ACCOUNT;
  const id = uidOfPort(spec.exposure.port);
  return { uid: id, gid: id };
}

/** The uid of the instance with the port; no two ports have the same, and none has one that anybody else is known to have. */
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
