// `pilvi keeper`: stores backups and ships logs. It reads its key as the user who started Pilvi, and then becomes a
// user who can change no data of an instance.
import type { Config } from "../../config.ts";
import { KEEPER_ACCOUNT } from "../../host/os/accounts.ts";
import { keeperSocket } from "../../host/os/layout.ts";
import { Keeper } from "../../keeper/keeper.ts";
import { serveKeeper } from "../../keeper/server.ts";
import { forbidNewPrivileges } from "../../lib/libc.ts";
import { createLineLog } from "../../lib/line-log.ts";
import { protectFromOom } from "../../lib/oom-score.ts";
import { OPEN_FILES, raiseOpenFileLimit } from "../../lib/open-files.ts";
import { backupKey, openBackupTarget } from "../bootstrap/backup-targets.ts";
import { ensureBackupFolders } from "../bootstrap/backup-folders.ts";
import { ensureDataDir, takeDataDirLock } from "../bootstrap/data-dir.ts";
import { openVault } from "../bootstrap/identity.ts";
import { becomeUser } from "../bootstrap/privileges.ts";
import { reportReady, reportRefusal, stopRequested } from "../program/parent.ts";

/** What waits for a target far away is written at the end, unless it takes longer; nothing is lost then. */
const CLOSE_TIMEOUT_MS = 10_000;

/** @returns the exit code, when the process was asked to end. */
export async function keeperCommand(config: Config): Promise<number> {
  protectFromOom();
  const log = createLineLog({ process: "keeper" }, config.logLevel);
  try {
    ensureDataDir(config.dataDir);
    await takeDataDirLock(config.dataDir, "keeper");
    const vault = await openVault(config);
    raiseOpenFileLimit(OPEN_FILES);
    const notesDir = ensureBackupFolders(config, log);
    const { bytesPerSecond } = config.backups;
    const targets = config.backups.targets.map((target) => openBackupTarget(target, config));
    const keeper = new Keeper({ targets, notesDir, key: backupKey(vault), bytesPerSecond, log });
    // The socket stays that of the host's user; no request comes in before this user is given up.
    const stopServing = serveKeeper(keeper, keeperSocket(config.dataDir), log);
    becomeUser(KEEPER_ACCOUNT);
    forbidNewPrivileges();
    const stopping = stopRequested();
    keeper.start();
    log.info({ targets: targets.map(({ name }) => name) }, "the keeper is ready");
    reportReady();
    const reason = await stopping;
    log.info({ reason }, "the keeper ends");
    await stopServing();
    await Promise.race([keeper.close(), Bun.sleep(CLOSE_TIMEOUT_MS)]);
    return 0;
  } catch (error) {
    log.error({ error }, "the keeper ends because it failed");
    reportRefusal(error);
    return 1;
  }
}
