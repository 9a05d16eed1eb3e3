// Gives root up, in processes that parse bytes of clients.
import { chdir } from "node:process";
import type { Account } from "../../engines/engine.ts";
import { canSwitchUsers } from "../../host/os/accounts.ts";

/** This process runs as the account from here on, for good; a process of an ordinary user stays that user's. */
export function becomeUser({ uid, gid }: Account): void {
  if (!canSwitchUsers()) return;
  chdir("/");
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}
