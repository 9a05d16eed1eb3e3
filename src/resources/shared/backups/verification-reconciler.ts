// Has the host verify restores, one after the other: the work item of a host is one at a time for all of its archives,
// and a run that was killed is begun again.
import { publicMessageOf } from "../../../lib/errors.ts";
import { failpoint } from "../../../lib/failpoint.ts";
import type { Log } from "../../../lib/log.ts";
import type { Outcome, Reconcile } from "../../../reconciler/loop.ts";
import type { Database } from "../../../store/database.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import { shortPauseMs, verificationTarget } from "./verification-policy.ts";
import {
  dueVerification,
  hostOfVerifications,
  nextVerificationMs,
  planVerification,
  recordVerification,
  unplannedArchives,
  type DueVerification,
} from "./verifications.ts";

/** How soon an archive that is new is seen. */
const LOOK_MS = 60_000;

/** How verifications are made. */
interface VerificationOptions {
  /** The pause between two verifications of one archive; 0 for none at all. */
  intervalMs: number;
  log: Log;
  random?: () => number;
}

interface Parts extends Required<VerificationOptions> {
  db: Database;
  host: ServedHost;
}

/** The reconciler of the verifications of a host. */
export function reconcileVerifications(
  { db, hosts }: Pick<KindContext, "db" | "hosts">,
  { intervalMs, log, random = Math.random }: VerificationOptions,
): Reconcile {
  return async (workId, signal) => {
    if (intervalMs === 0) return { result: { settled: true } };
    const host = hosts.of(hostOfVerifications(workId));
    const parts = { db, host, intervalMs, log, random };
    await planNew(parts);
    const due = await dueVerification(db, host.id);
    if (due !== undefined) await verifyOne(parts, due, signal);
    return await restUntilNext(parts);
  };
}

/** Archives that have got their first backup. */
async function planNew({ db, host, intervalMs }: Parts): Promise<void> {
  const ids = await unplannedArchives(db, host.id);
  const stored = ids.filter((id) => (host.archiveStates.of(id)?.backups.length ?? 0) > 0);
  if (stored.length > 0) await planVerification(db, stored, shortPauseMs(intervalMs));
}

async function verifyOne(parts: Parts, due: DueVerification, signal: AbortSignal): Promise<void> {
  const { db, host, intervalMs, log, random } = parts;
  const { id, latest } = due;
  const state = host.archiveStates.of(id);
  const target = verificationTarget({ state, latest, intervalMs, nowMs: Date.now(), random });
  if (target === null) return await planVerification(db, [id], intervalMs);
  const found = await host.driver.verify(id, target, signal).catch(async (error: unknown) => {
    // A driver that is away is tried again soon; what it refuses must not hold up other archives.
    if (signal.aborted || !(await answers(host, id))) throw error;
    log.warn({ archive: id, error }, "a restore could not be verified");
    const reason = publicMessageOf(error, "The restore could not be verified.");
    await planVerification(db, [id], shortPauseMs(intervalMs), reason);
  });
  if (found === undefined) return;
  await failpoint("verification.made");
  if (found.faults.length > 0)
    log.error({ archive: id, target, faults: found.faults }, "a verified restore found faults");
  await recordVerification(db, due, found, intervalMs);
}

async function answers({ driver }: ServedHost, id: string): Promise<boolean> {
  return await driver.observe(id).then(
    () => true,
    () => false,
  );
}

async function restUntilNext({ db, host, intervalMs }: Parts): Promise<Outcome> {
  const lookMs = Date.now() + Math.min(LOOK_MS, intervalMs);
  const nextMs = (await nextVerificationMs(db, host.id)) ?? lookMs;
  return { result: { settled: true, againAt: new Date(Math.min(nextMs, lookMs)) } };
}
