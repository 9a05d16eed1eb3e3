// Leaves root behind, in processes that parse strangers' bytes.
import { chdir } from "node:process";
import type { Account } from "../../engines/engine.ts";
import { canSwitchUsers } from "../../host/os/accounts.ts";

/** This process is the account's from here on, for good; started by an ordinary user, it stays that user's. */
export function becomeUser({ uid, gid }: Account): void {
  if (!canSwitchUsers()) return;
  chdir("/");
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}
