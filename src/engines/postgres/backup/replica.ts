// A Postgres that follows another by the log in that one's archive, for reading: the host puts segments into its log
// folder, which it polls. It has neither a connection to the other nor a command that fetches segments.
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { writeForeign } from "../../../lib/foreign-file.ts";
import type { PostgresSpec } from "../../../contracts/instance-spec.ts";
import { PublicError } from "../../../lib/errors.ts";
import { RestoreFault, type EngineReplica, type RestoreContext } from "../../backup.ts";
import type { EngineContext } from "../../engine.ts";
import { asAdmin, inspect, OWN_DATABASE } from "../admin.ts";
import { readControlFile } from "../control-file.ts";
import { followedTimeline, lineageIn } from "./lineage.ts";
import { pageOf, parseLsn, segmentName, segmentNumber } from "./lsn.ts";
import { checkSegments, giveLog } from "./segment-checks.ts";
import { adopt } from "./unpacked-data.ts";

/** With this file, Postgres replays its log for ever and takes no writes. */
const STANDBY = "standby.signal";

/** How long a start waits for the roles of its spec, which come with the log. */
const ROLES_TIMEOUT_MS = 5_000;
const ROLES_RETRY_MS = 100;

export const replica: EngineReplica<PostgresSpec> = {
  seed,
  nextSegment,
  hasReplayed: async (context, lsn) => {
    const position = await replayed(context);
    return { position, isReached: pageOf(parseLsn(position)) >= pageOf(parseLsn(lsn)) };
  },
};

/** @throws PublicError when the data would start as a database of its own. */
export function assertFollows({ spec, paths }: EngineContext<PostgresSpec>): void {
  if (spec.replicaOf === undefined) return;
  const entry = lstatSync(join(paths.dataDir, STANDBY), { throwIfNoEntry: false });
  if (entry?.isFile() === true) return;
  throw new PublicError(
    "The data of the replica is no longer that of a replica, so it is not started. Delete the replica, and make another.",
  );
}

/** Waits for the roles of the spec for a while. The replay goes on by itself. */
export async function awaitRoles(context: EngineContext<PostgresSpec>): Promise<void> {
  const verifiers = context.spec.users.map(({ verifier }) => verifier);
  const giveUpAt = performance.now() + ROLES_TIMEOUT_MS;
  for (;;) {
    const [row] = await asAdmin(
      context,
      OWN_DATABASE,
      (db) => db<{ count: number }[]>`
        select count(*)::int as count from pg_authid where rolpassword = any(${db.array(verifiers, "text")})`,
    );
    if ((row?.count ?? 0) >= verifiers.length || performance.now() >= giveUpAt) return;
    await Bun.sleep(ROLES_RETRY_MS);
  }
}

/** See `EngineReplica.seed`. @throws RestoreFault */
function seed(context: RestoreContext): void {
  const { dataDir, account } = context;
  const { facts, control } = adopt(context);
  const folder = join(dataDir, "pg_wal");
  giveLog(folder, account);
  const lineage = lineageIn(folder, facts.timeline);
  checkSegments(folder, facts, control, { endLsn: facts.endLsn, lineage });
  writeForeign(join(dataDir, STANDBY), "", account);
}

/** The newest segment, which may not be whole; with none at all, the segment in which the replay begins. */
function nextSegment(dataDir: string): string {
  const control = readControlFile(dataDir);
  const timeline = followedTimeline(dataDir);
  if (control === null || timeline === null) throw new RestoreFault("The replica has no data.");
  const { redo, segmentBytes } = control;
  const first = segmentName(timeline, segmentNumber(redo, segmentBytes), segmentBytes);
  const names = readdirSync(join(dataDir, "pg_wal")).filter((name) => /^[0-9A-F]{24}$/.test(name));
  return (
    names
      .filter((name) => name.slice(0, 8) === first.slice(0, 8))
      .sort()
      .at(-1) ?? first
  );
}

async function replayed(context: EngineContext<PostgresSpec>): Promise<string> {
  const [row] = await inspect(
    context,
    (db) => db<{ lsn: string | null }[]>`select pg_last_wal_replay_lsn()::text as lsn`,
  );
  return row?.lsn ?? "0/0";
}
