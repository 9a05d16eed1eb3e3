// Verified restores of Pilvi's own store, which belongs to no organization: every SQL statement about them.
import type { VerifiedRestore } from "../../../contracts/verification.ts";
import type { Database } from "../../../store/database.ts";
import type { Verification, VerificationState } from "../../kind.ts";
import { NEVER_VERIFIED } from "./verifications.ts";

/** What is known of the store's verified restores. */
interface StoreVerification {
  state: VerificationState;
  /** In how long the next is due; null while none is planned. */
  dueInMs: number | null;
}

export async function storeVerification(db: Database): Promise<StoreVerification> {
  const [row] = await db<(VerificationState & { dueInMs: number })[]>`
    select latest, sound, error, (extract(epoch from verify_at - now()) * 1000)::float8 as "dueInMs"
    from store_verification`;
  if (row === undefined) return { state: NEVER_VERIFIED, dueInMs: null };
  const { dueInMs, ...state } = row;
  return { state, dueInMs };
}

/** Plans the next one. @param error why an attempt ended without a result. */
export async function planStoreVerification(
  db: Database,
  inMs: number,
  error: string | null = null,
): Promise<void> {
  await db`
    insert into store_verification (verify_at, error)
    values (now() + make_interval(secs => ${inMs / 1_000}), ${error})
    on conflict (is_only) do update set verify_at = excluded.verify_at, error = excluded.error`;
}

/** Keeps a result, and plans the next one. */
export async function recordStoreVerification(
  db: Database,
  found: VerifiedRestore,
  inMs: number,
): Promise<void> {
  const kept: Verification = { ...found, endedAt: new Date().toISOString() };
  const isSound = found.faults.length === 0;
  await db`
    update store_verification
    set latest = ${kept}::jsonb, sound = case when ${isSound} then ${kept}::jsonb else sound end, error = null,
        verify_at = now() + make_interval(secs => ${inMs / 1_000})`;
}
