// Replays the binary log of a MariaDB on its restored data up to an instant. The server takes the files for those that a
// replica has got from its primary: so no text of a statement passes through a client, which could take a part of it for
// another statement.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { SQL } from "bun";
import type { RestorePlan } from "../../../contracts/keeper.ts";
import { PublicError } from "../../../lib/errors.ts";
import { failpoint } from "../../../lib/failpoint.ts";
import { presentable } from "../../../lib/presentable.ts";
import { RestoreFault, type Recovered, type RestoreContext } from "../../backup.ts";
import { literal } from "../admin.ts";
import { LOG_FOLDER } from "./binary-log.ts";
import {
  assembleLog,
  binlogName,
  cutLog,
  FIRST_EVENT_AT,
  parsePosition,
  relayName,
  writeCut,
  type LogFile,
  type LogPosition,
} from "./log-files.ts";
import { withServer } from "./server.ts";

const POLL_MS = 50;

/** What a replica writes beside its data. */
const REPLICA_FILES = ["master.info", "relay-log.info"];

type ToInstant = Extract<RestorePlan["recovery"], { kind: "time" }>;

/** @throws RestoreFault when the log is damaged, has a gap, or cannot be applied. */
export async function replayLog(context: RestoreContext, recovery: ToInstant): Promise<Recovered> {
  const { mysql } = context.facts;
  if (mysql === undefined) throw new RestoreFault("The backup does not say where its log goes on.");
  const folder = join(context.dataDir, LOG_FOLDER);
  const start = parsePosition(mysql.startLsn);
  const second = Math.floor(Date.parse(recovery.at) / 1000);
  const files = await assembleLog(context, folder);
  const cut = cutLog(files, second, { start, mustReach: parsePosition(recovery.mustReachLsn) });
  writeCut(context, folder, cut.files);
  await failpoint("host.replay.cut");
  await withServer(context, async (db) => await applyAll(context, db, { files: cut.files, start }), [
    `relay-log=${join(folder, "relay")}`,
    `relay-log-index=${join(folder, "relay.index")}`,
    "relay-log-purge=OFF",
    "slave-max-allowed-packet=1G",
    `ignore-db-dirs=${LOG_FOLDER}`,
    "server-id=2",
  ]);
  rmSync(folder, { recursive: true, force: true });
  for (const name of REPLICA_FILES) rmSync(join(context.dataDir, name), { force: true });
  context.progress(1);
  const { lastCommitAt } = cut;
  return {
    reachedLsn: recovery.mustReachLsn,
    lastCommitAt: lastCommitAt === null ? null : new Date(lastCommitAt * 1000).toISOString(),
  };
}

async function applyAll(
  context: RestoreContext,
  db: SQL,
  { files, start }: { files: LogFile[]; start: LogPosition },
): Promise<void> {
  const [first, last] = [files[0], files.at(-1)];
  if (first === undefined || last === undefined) return;
  const from = first.number === start.file ? start.byte : FIRST_EVENT_AT;
  await db.unsafe(
    `change master to master_host = 'archive', master_user = 'archive',
     relay_log_file = ${literal(relayName(first.number))}, relay_log_pos = ${from}`,
  );
  await db.unsafe("start slave sql_thread");
  while (!(await hasApplied(db, last))) {
    context.signal.throwIfAborted();
    await Bun.sleep(POLL_MS);
  }
  await failpoint("host.replay.applied");
  await db.unsafe("stop slave");
  await db.unsafe("reset slave all");
  await db.unsafe("set global gtid_slave_pos = ''");
  // A replica runs no events of its primary; this is none any more.
  await db.unsafe("update mysql.event set status = 'ENABLED' where status = 'SLAVESIDE_DISABLED'");
}

/** @throws RestoreFault when a statement or a row cannot be applied. */
async function hasApplied(db: SQL, last: LogFile): Promise<boolean> {
  const [status] = await db.unsafe<Record<string, string | number>[]>("show slave status");
  if (status === undefined) throw new PublicError("The replay of the log has ended before it was done.");
  const name = String(status.Relay_Log_File);
  const number = Number(name.slice(name.lastIndexOf(".") + 1));
  if (number > last.number) return true;
  if (number === last.number && Number(status.Relay_Log_Pos) >= last.groupEnd) return true;
  if (Number(status.Last_SQL_Errno) !== 0) {
    const said = presentable(String(status.Last_SQL_Error), 300);
    throw new RestoreFault(`The binary log ${binlogName(number)} cannot be replayed: ${said}`);
  }
  if (status.Slave_SQL_Running === "No")
    throw new PublicError("The replay of the log has ended before it was done.");
  return false;
}
