// Makes the rows of a restored store say what is to be restored: each resource from its own archive, up to its end.
import type { BackupInfo, RestorePlan } from "../../contracts/keeper.ts";
import type { RestoredResource } from "../../contracts/restore-all.ts";
import type { Driver } from "../../drivers/driver.ts";
import { PublicError } from "../../lib/errors.ts";
import { forEachLimited } from "../../lib/for-each-limited.ts";
import { enqueue } from "../../reconciler/queue.ts";
import type { StoredOrigin } from "../../resources/shared/backups/origin.ts";
import { INSTANCE_KINDS, type InstanceKind } from "../../resources/shared/instance-kinds.ts";
import type { Database, Transaction } from "../../store/database.ts";

const PLANS_AT_ONCE = 4;
const DEADLINE_SECONDS = 3_600;

interface Row {
  kind: InstanceKind;
  id: string;
  hostId: string;
  name: string;
  status: string;
}

/** What becomes of a row; `at` is the moment that its data will be from. */
type Fate =
  | { status: "restoring" | "restore_failed"; origin: StoredOrigin; at: string }
  | { status: "creating"; origin: null; at: null; loss?: string }
  | { status: "as it was"; at: null }
  | { status: "lost"; loss: string };

export interface Prepared {
  resources: RestoredResource[];
  /** What comes back, but not as it was, as sentences. */
  losses: string[];
  /** What does not come back, as sentences. */
  lost: string[];
}

/**
 * Changes the rows in one transaction. It can be repeated until the control plane has begun to act on them.
 * @throws PublicError when the driver or its keeper cannot be asked.
 */
export async function prepareRows(db: Database, driver: Driver): Promise<Prepared> {
  const archives = await driver.archives();
  const newest = new Map(archives.map(({ id, backups }) => [id, backups.at(-1)]));
  const fates: { row: Row; fate: Fate }[] = [];
  await forEachLimited(await rowsOf(db), PLANS_AT_ONCE, async (row) => {
    fates.push({ row, fate: await fateOf(driver, row, newest.get(row.id)) });
  });
  await db.begin(async (tx) => {
    for (const { row, fate } of fates) await write(tx, row, fate);
  });
  return {
    resources: fates.flatMap(({ row: { kind, id, name }, fate }) =>
      fate.status === "lost" ? [] : [{ kind, id, name, at: fate.at }],
    ),
    losses: fates.flatMap(({ fate }) => (fate.status === "creating" && fate.loss ? [fate.loss] : [])),
    lost: fates.flatMap(({ fate }) => (fate.status === "lost" ? [fate.loss] : [])),
  };
}

/** The resources that shall be there, the oldest first. */
async function rowsOf(db: Database): Promise<Row[]> {
  const kinds = Object.keys(INSTANCE_KINDS) as InstanceKind[];
  const rows = kinds.map(
    async (kind) =>
      await db<Row[]>`
      select ${kind} as kind, id, host_id as "hostId", name, status
      from ${db.unsafe(INSTANCE_KINDS[kind].table)}
      where status not in ('deleting', 'restore_failed') order by id`,
  );
  return (await Promise.all(rows)).flat();
}

async function fateOf(driver: Driver, row: Row, newest: BackupInfo | undefined): Promise<Fate> {
  if (newest !== undefined) return await restored(driver, row.id, newest);
  // It had no data yet, or its data comes from another archive.
  if (row.status === "creating" || row.status === "restoring") return { status: "as it was", at: null };
  const loss = `${row.name} has no backup`;
  if (row.kind === "databases") return { status: "lost", loss: `${loss}: its data is lost.` };
  const begun = { status: "creating", origin: null, at: null } as const;
  return row.kind === "caches" ? { ...begun, loss: `${loss}: it comes back empty.` } : begun;
}

/** The end of its archive, named as an instant or a backup, so that another attempt restores the same. */
async function restored(driver: Driver, archive: string, newest: BackupInfo): Promise<Fate> {
  try {
    const plan = await driver.planRestore(archive, { latest: true });
    const { id: backup, completedAt, engine } = plan.backup;
    const reach = plan.recovery.kind === "time" ? await reachOf(driver, archive, plan.recovery.at) : null;
    const from = reach === null ? { archive, backup } : { archive, at: reach };
    return { status: "restoring", origin: { from, engine: engine.name }, at: reach ?? completedAt };
  } catch (error) {
    if (!(error instanceof PublicError)) throw error;
    // A driver that can be asked for the archive has refused the plan.
    await driver.archive(archive);
    const from = { archive, backup: newest.id };
    const origin = { from, engine: newest.engine.name, error: error.message };
    return { status: "restore_failed", origin, at: newest.completedAt };
  }
}

/**
 * The last instant of an archive. The plan for it may name a later instant, which no other plan is made for: the log of a
 * MariaDB has seconds only.
 */
async function reachOf(driver: Driver, archive: string, planned: string): Promise<string> {
  return (await driver.archive(archive))?.log?.watermark.at ?? planned;
}

/** The instant up to which a plan restores. */
export function endOf({ backup, recovery }: RestorePlan): string {
  return recovery.kind === "time" ? recovery.at : backup.completedAt;
}

async function write(tx: Transaction, { kind, id, hostId }: Row, fate: Fate): Promise<void> {
  if (fate.status === "lost" || fate.status === "as it was") return;
  const table = tx.unsafe(INSTANCE_KINDS[kind].table);
  if (kind === "websockets") await tx`update ${table} set status = ${fate.status} where id = ${id}`;
  else
    await tx`
      update ${table} set status = ${fate.status}, origin = ${fate.origin}::jsonb where id = ${id}`;
  await enqueue(tx, { kind, id, hostId, deadlineSeconds: DEADLINE_SECONDS });
}
