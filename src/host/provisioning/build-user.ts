// The user that builds first data: one of Pilvi's own under a lent name, because `initdb` needs a user with a name.
import { existsSync } from "node:fs";
import type { Account } from "../../engines/engine.ts";
import { BUILD_ACCOUNT, canSwitchUsers } from "../os/accounts.ts";

/** The user that every Linux has a name for, and that other programs of the machine may run as too. */
const NOBODY: Account = { uid: 65_534, gid: 65_534 };

/** In its own user namespace a process is `nobody`, while its files belong to its real uid. */
const UNSHARE = "/usr/bin/unshare";
const AS_NOBODY = [UNSHARE, "--user", `--map-user=${NOBODY.uid}`, `--map-group=${NOBODY.gid}`];

/** The building user, and the prefix of its commands. */
interface BuildUser {
  account: Account | null;
  prefix: string[];
}

let found: BuildUser | undefined;

/** The user to build as; a null account is the host's own. Where no name can be lent, it is `nobody`. */
export function buildUser(): BuildUser {
  return (found ??= findBuildUser());
}

/** Whether other programs of this machine may run as the building user, because this machine cannot lend it a name. */
export function isBuildUserShared(): boolean {
  return buildUser().account?.uid === NOBODY.uid;
}

function findBuildUser(): BuildUser {
  if (!canSwitchUsers()) return { account: null, prefix: [] };
  return canLendName() ? { account: BUILD_ACCOUNT, prefix: AS_NOBODY } : { account: NOBODY, prefix: [] };
}

/** Whether a name can be lent: that needs a newer util-linux, and user namespaces for unprivileged users. */
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
