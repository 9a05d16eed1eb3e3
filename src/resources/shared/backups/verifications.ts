// Verified restores in the rows of archives: every SQL statement about them.
import type { VerifiedRestore } from "../../../contracts/verification.ts";
import type { Database, Queryable } from "../../../store/database.ts";
import type { Verification, VerificationState } from "../../kind.ts";
import { recordEvent } from "../events/record.ts";
import { INSTANCE_KINDS } from "../instance-kinds.ts";
import { momentSql } from "../moments.ts";
import type { ArchiveSource, BackedUpKind } from "./archives.ts";

/** The kind of verifications in the work queue: one item for each host, since a host verifies one restore at a time. */
export const VERIFICATIONS = "verifications";

const PREFIX = "verifications-of-";

/** The state of an archive that was never verified. */
export const NEVER_VERIFIED: VerificationState = { latest: null, sound: null, error: null };

/** An archive whose verification is due. */
export interface DueVerification {
  id: string;
  organizationId: string;
  kind: BackedUpKind;
  source: ArchiveSource;
  latest: Verification | null;
}

/** The host that the work item is about. */
export function hostOfVerifications(workId: string): string {
  return workId.slice(PREFIX.length);
}

/** Has the verifications of a host be looked at, from now on. It may be called again at any time. */
export async function enqueueVerifications(db: Queryable, hostId: string): Promise<void> {
  await db`
    insert into work (kind, id, host_id) values (${VERIFICATIONS}, ${PREFIX + hostId}, ${hostId})
    on conflict (kind, id) do update set run_at = now() where work.owner is null`;
}

/** The archives on the host that nothing is planned for. */
export async function unplannedArchives(db: Database, hostId: string): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id from archives where host_id = ${hostId} and deleted_at is null and verify_at is null`;
  return rows.map(({ id }) => id);
}

/** Plans the next verification of archives. */
export async function planVerification(
  db: Queryable,
  ids: readonly string[],
  inMs: number,
  error: string | null = null,
): Promise<void> {
  await db`
    update archives
    set verify_at = now() + make_interval(secs => ${inMs / 1_000}), verification_error = ${error},
        verification_at = case when verification_error is distinct from ${error}::text then now() else verification_at end
    where id = any(${db.array([...ids], "text")})`;
}

/** The archive on the host whose verification has been due for longest. */
export async function dueVerification(db: Database, hostId: string): Promise<DueVerification | undefined> {
  const [row] = await db<DueVerification[]>`
    select id, organization_id as "organizationId", kind, source, verification as latest from archives
    where host_id = ${hostId} and deleted_at is null and verify_at <= now() order by verify_at limit 1`;
  return row;
}

/** When the next verification on the host is planned; null when none is. */
export async function nextVerificationMs(db: Database, hostId: string): Promise<number | null> {
  const [row] = await db<{ ms: number | null }[]>`
    select (extract(epoch from min(verify_at)) * 1000)::float8 as ms from archives
    where host_id = ${hostId} and deleted_at is null`;
  return row?.ms ?? null;
}

/** Keeps a result, with its event, and plans the next verification. A deleted archive has no events any more. */
export async function recordVerification(
  db: Database,
  { id, organizationId, kind, source }: DueVerification,
  found: VerifiedRestore,
  inMs: number,
): Promise<void> {
  const isSound = found.faults.length === 0;
  const kept: Verification = { ...found, endedAt: new Date().toISOString() };
  await db.begin(async (tx) => {
    const rows = await tx`
      update archives
      set verification = ${kept}::jsonb, verified = case when ${isSound} then ${kept}::jsonb else verified end,
          verification_error = null, verification_at = now(),
          verify_at = now() + make_interval(secs => ${inMs / 1_000})
      where id = ${id} and deleted_at is null returning id`;
    if (rows.length === 0) return;
    const { backup, at, bytes, restoreSeconds, faults } = found;
    const about = { backup, restore_time: at };
    const resource = { type: INSTANCE_KINDS[kind].type, id, name: source.name };
    const event = isSound
      ? ({ type: "backup.verified", details: { ...about, bytes, restore_seconds: restoreSeconds } } as const)
      : ({ type: "backup.verification_failed", details: { ...about, reason: faults[0], faults } } as const);
    await recordEvent(tx, { organizationId, resource, ...event });
  });
}

/** The states that were written since a moment or shortly before, the oldest first; all for null. */
export async function verificationsSince(
  db: Database,
  hostId: string,
  since: string | null,
): Promise<(VerificationState & { id: string; writtenAt: string })[]> {
  return await db`
    select id, verification as latest, verified as sound, verification_error as error,
           ${db.unsafe(momentSql("verification_at"))} as "writtenAt"
    from archives where host_id = ${hostId} and verification_at >= coalesce(${since}::timestamptz - interval '1 minute', '-infinity')
    order by verification_at`;
}
