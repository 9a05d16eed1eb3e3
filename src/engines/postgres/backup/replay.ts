// One run of Postgres that replays its log up to a target, and ends.
import { join } from "node:path";
import { inForeignFolder, readForeign, writeForeign } from "../../../lib/foreign-file.ts";
import { PublicError } from "../../../lib/errors.ts";
import { presentable } from "../../../lib/presentable.ts";
import { RestoreFault, type RestoreContext } from "../../backup.ts";
import { readControlFile } from "../control-file.ts";
import { MAX_HISTORY_BYTES } from "./lineage.ts";
import { parseLsn } from "./lsn.ts";
import { startPrivately, type PrivateServer } from "./private-server.ts";

/** Where a replay is to end, `end` being the end of the log, and on which timeline: null is that of the backup. */
type ReplayTarget = ({ kind: "consistent" } | { kind: "time"; at: string } | { kind: "end" }) & {
  timeline: number | null;
};

/** How a replay ended. */
export interface Replayed {
  /** Whether the log ended before the target. */
  endedEarly: boolean;
  /** The end of what was replayed; null when the log ended early. */
  reached: bigint | null;
  lastCommitAt: string | null;
}

/** Reasons that another attempt may not meet. */
const PASSING =
  /No space left on device|Cannot allocate memory|out of memory|could not map anonymous|too many open files/i;

/** The longest reason that is shown. */
const MAX_REASON_CHARACTERS = 300;

/**
 * Starts the server, waits for the end of the replay, and ends it cleanly.
 * @param onPosition called with the position of the replay now and then.
 * @throws RestoreFault when the server cannot replay the log.
 */
export async function replay(
  context: RestoreContext,
  target: ReplayTarget,
  onPosition: (position: bigint) => void,
): Promise<Replayed> {
  writeForeign(join(context.dataDir, "recovery.signal"), "", context.account);
  return await runOnce(context, settingsOf(context, target), onPosition, (server) => {
    if (target.kind !== "end" && !server.log.hasStoppedAtTarget)
      throw new RestoreFault("The replay of the log passed the point that it was to end at.");
    return switchpoint(context.dataDir);
  });
}

/** Starts the server over data that was ended cleanly, and ends it again. @throws RestoreFault when it does not start. */
export async function startOnce(context: RestoreContext): Promise<void> {
  await runOnce(
    context,
    [],
    () => undefined,
    () => null,
  );
}

/** @param reachedOf asked after the clean end. */
async function runOnce(
  context: RestoreContext,
  settings: string[],
  onPosition: (position: bigint) => void,
  reachedOf: (server: PrivateServer) => bigint | null,
): Promise<Replayed> {
  context.signal.throwIfAborted();
  const server = startPrivately(context, settings);
  server.log.onPosition = onPosition;
  const abort = () => void server.quit();
  context.signal.addEventListener("abort", abort);
  try {
    const isReady = await server.ready;
    context.signal.throwIfAborted();
    if (isReady) {
      await server.stop();
      return { endedEarly: false, reached: reachedOf(server), lastCommitAt: server.log.lastCommitAt };
    }
    await server.log.ended;
    if (!server.log.endedEarly) throw failureOf(server);
    return { endedEarly: true, reached: null, lastCommitAt: server.log.lastCommitAt };
  } finally {
    context.signal.removeEventListener("abort", abort);
    await server.quit();
    // An abort during the clean end is an abort, too.
    context.signal.throwIfAborted();
  }
}

function failureOf({ log }: PrivateServer): PublicError {
  const said = new Error(log.tail);
  if (log.reason === null) return new PublicError("Postgres was ended during the restore.", said);
  if (PASSING.test(log.tail)) return new PublicError("The host had no room for the restore.", said);
  const reason = presentable(log.reason, MAX_REASON_CHARACTERS);
  return new RestoreFault(`Postgres cannot replay the log of the backup: ${reason}.`, said);
}

function settingsOf({ installed }: RestoreContext, target: ReplayTarget): string[] {
  const settings = [
    // Without it Postgres refuses to start; all segments are in their folder already.
    "restore_command = '/bin/false'",
    `recovery_target_timeline = '${target.timeline ?? "current"}'`,
    "recovery_target_action = 'promote'",
    // A copy must not fail since its size allows fewer sessions than that of the source.
    "hot_standby = off",
  ];
  if (target.kind === "consistent") settings.push("recovery_target = 'immediate'");
  if (target.kind === "time") settings.push(`recovery_target_time = '${target.at}'`);
  // Version 14 does not say how far it is.
  if (!installed.version.startsWith("14.")) settings.push("log_startup_progress_interval = 250ms");
  return settings;
}

/** The end of the replayed log, where the present timeline left the former: the history of the present says it. */
function switchpoint(dataDir: string): bigint {
  const timeline = readControlFile(dataDir)?.timeline ?? 0;
  const name = `${timeline.toString(16).toUpperCase().padStart(8, "0")}.history`;
  const read = (folder: string) => readForeign(join(folder, name), MAX_HISTORY_BYTES);
  const lines = (inForeignFolder(join(dataDir, "pg_wal"), read) ?? "").split("\n");
  const [, lsn] = /^\d+\t([0-9A-F]+\/[0-9A-F]+)\t/.exec(lines.findLast((line) => line !== "") ?? "") ?? [];
  if (lsn === undefined) throw new Error(`${name} names no position`);
  return parseLsn(lsn);
}
