// Brings the unpacked data of a Postgres to the state of its backup, or to an instant after it, or says why it cannot.
import { join } from "node:path";
import { RestoreFault, type Recovered, type RestoreContext } from "../../backup.ts";
import { lineageIn, type Lineage } from "./lineage.ts";
import { lsnText, pageOf, parseLsn } from "./lsn.ts";
import { replay, startOnce, type Replayed } from "./replay.ts";
import { checkSegments, giveLog } from "./segment-checks.ts";
import { adopt, removeSteering, type PostgresFacts } from "./unpacked-data.ts";

/** See `EngineBackup.recover`. @throws RestoreFault */
export async function recover(context: RestoreContext): Promise<Recovered> {
  const { dataDir, account, recovery } = context;
  const { facts, control } = adopt(context);
  const folder = join(dataDir, "pg_wal");
  const mustReach = recovery.kind === "time" ? recovery.mustReachLsn : facts.endLsn;
  giveLog(folder, account);
  const lineage = lineageIn(folder, facts.timeline);
  checkSegments(folder, facts, control, { endLsn: mustReach, lineage });
  const recovered = await bring(context, facts, { mustReach: parseLsn(mustReach), lineage });
  removeSteering(dataDir);
  context.progress(1);
  return recovered;
}

async function bring(
  context: RestoreContext,
  facts: PostgresFacts,
  { mustReach, lineage }: { mustReach: bigint; lineage: Lineage },
): Promise<Recovered> {
  // The backup's own timeline may have no history here.
  const timeline = lineage.timeline === facts.timeline ? null : lineage.timeline;
  const { recovery } = context;
  const isStopped = !context.facts.isHot && recovery.kind === "immediate";
  if (isStopped) {
    await startOnce(context);
    return { reachedLsn: facts.checkpointLsn, lastCommitAt: null };
  }
  const onPosition = progressTo(context, parseLsn(facts.startLsn), mustReach);
  const target =
    recovery.kind === "time"
      ? ({ kind: "time", at: targetTime(recovery.at) } as const)
      : ({ kind: "consistent" } as const);
  if (recovery.kind === "time" && recovery.isWholeLog === true)
    return resultOf(await replay(context, { kind: "end", timeline }, onPosition), mustReach);
  const first = await replay(context, { ...target, timeline }, onPosition);
  if (!first.endedEarly && target.kind === "time") return resultOf(first);
  if (target.kind === "consistent") return resultOf(first, mustReach);
  // The target is later than the last commit, or a part of the log is missing: the end of the log decides.
  const whole = await replay(context, { kind: "end", timeline }, onPosition);
  return resultOf({ ...whole, lastCommitAt: whole.lastCommitAt ?? first.lastCommitAt }, mustReach);
}

/** @param mustReach the position up to which the log must be replayed. @throws RestoreFault when it was not. */
function resultOf({ reached, lastCommitAt }: Replayed, mustReach = 0n): Recovered {
  if (reached !== null && reached >= pageOf(mustReach)) return { reachedLsn: lsnText(reached), lastCommitAt };
  const wanted = lsnText(mustReach);
  const ends = reached === null ? "before the state of the backup" : `at ${lsnText(reached)}`;
  throw new RestoreFault(`The log of the database has a gap: it ends ${ends}, and must reach ${wanted}.`);
}

function progressTo({ progress }: RestoreContext, start: bigint, end: bigint) {
  const total = Number(end - start);
  return (position: bigint) => {
    if (total > 0) progress(Math.min(1, Math.max(0, Number(position - start) / total)));
  };
}

/** @param at ISO 8601 in UTC. Commits have microseconds, so further digits make no difference. */
function targetTime(at: string): string {
  const [, day, time, fraction = ""] =
    /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d(?::\d\d)?)(\.\d{1,6})?\d*Z$/.exec(at) ?? [];
  if (day === undefined || time === undefined)
    throw new RestoreFault("The instant to restore is not a time in UTC.");
  return `${day} ${time}${fraction}+00`;
}
