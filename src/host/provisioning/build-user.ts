// The user that first data is made as: one of Pilvi's own, with a name lent to it, since `initdb` wants a user that has one.
import { existsSync } from "node:fs";
import type { Account } from "../../engines/engine.ts";
import { BUILD_ACCOUNT, canSwitchUsers } from "../os/accounts.ts";

/** The user that every Linux has a name for, and that other programs of the machine may run as too. */
const NOBODY: Account = { uid: 65_534, gid: 65_534 };

/** In a user namespace of its own a process is `nobody`, while its files stay those of its own number. */
const UNSHARE = "/usr/bin/unshare";
const AS_NOBODY = [UNSHARE, "--user", `--map-user=${NOBODY.uid}`, `--map-group=${NOBODY.gid}`];

/** Who builds, and the words to put before a command. */
export interface BuildUser {
  account: Account | null;
  prefix: string[];
}

let found: BuildUser | undefined;

/** The user to build as: null is the host's own. Where no name can be lent, it is `nobody`. */
export function buildUser(): BuildUser {
  return (found ??= findBuildUser());
}

/** Whether others on this machine may be the user that builds, since no name can be lent to another here. */
export function isBuildUserShared(): boolean {
  return buildUser().account?.uid === NOBODY.uid;
}

function findBuildUser(): BuildUser {
  if (!canSwitchUsers()) return { account: null, prefix: [] };
  return canLendName() ? { account: BUILD_ACCOUNT, prefix: AS_NOBODY } : { account: NOBODY, prefix: [] };
}

/** It needs a newer util-linux, and a kernel that lets users without rights have namespaces. */
function canLendName(): boolean {
  if (!existsSync(UNSHARE)) return false;
  const { exitCode } = Bun.spawnSync([...AS_NOBODY, "true"], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    stdio: ["ignore", "ignore", "ignore"],
    ...BUILD_ACCOUNT,
  });
  return exitCode === 0;
}
