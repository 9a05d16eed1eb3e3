// Verified restores of the archives of a host: planned, made one by one, kept with their events, and shown.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { RestoreTarget } from "../../src/contracts/keeper.ts";
import type { VerifiedRestore } from "../../src/contracts/verification.ts";
import { PublicError } from "../../src/lib/errors.ts";
import { createLog } from "../../src/lib/log.ts";
import { ArchiveFollower, WatchedArchives } from "../../src/resources/shared/backups/archive-states.ts";
import { backupGauges } from "../../src/resources/shared/backups/backup-gauges.ts";
import { reconcileVerifications } from "../../src/resources/shared/backups/verification-reconciler.ts";
import { startArchivingApi, type ArchivingApi } from "../support/api/archives.ts";
import { documentOf, expectDocumented } from "../support/api/openapi.ts";
import { becomes, make, SLEEPERS } from "../support/api/resources-api.ts";
import { until } from "../support/pilvi/pilvi.ts";

const SOUND = {
  bytes: 8_192,
  restoreSeconds: 4.2,
  checkSeconds: 1.8,
  checked: 312,
  isComplete: true,
  faults: [],
};
const DAY_MS = 86_400_000;
const log = createLog("test", "silent");

let api: ArchivingApi;
/** What the driver was asked to verify, in order. */
const asked: { archive: string; target: RestoreTarget }[] = [];
/** The answer of the driver. */
let answer: (backup: string) => Partial<VerifiedRestore> = () => ({});
let follower: ArchiveFollower;

beforeAll(async () => {
  api = await startArchivingApi({
    verify: async (archive: string, target: RestoreTarget) => {
      asked.push({ archive, target });
      const backup = "backup" in target ? target.backup : null;
      const at = "at" in target ? target.at : "2026-03-15T08:18:53.204112Z";
      return { ...SOUND, backup, at, ...answer(backup ?? "") };
    },
  });
  follower = new ArchiveFollower(api, log);
});
afterAll(() => api.stop());

/** An instance with a backup that the control plane knows. @returns the ids of both. */
async function backedUp(sleeper: (typeof SLEEPERS)[number]): Promise<{ id: string; backup: string }> {
  const { id } = await make(api, sleeper, sleeper.body);
  await becomes(api, sleeper.kind, id, "available");
  const response = await api.request(`${sleeper.path}/${id}/snapshots`, { json: { name: "before" } });
  expect(response.status).toBe(201);
  await until("the backup is made", () => (api.archives.states.get(id)?.backups.length ?? 0) > 0);
  await follower.pass();
  return { id, backup: api.host.archiveStates.of(id)?.backups[0]?.id ?? "" };
}

/** One run of the host's work item. */
async function runOnce() {
  const reconcile = reconcileVerifications(api.context, { intervalMs: DAY_MS, log, random: () => 0.9 });
  return await reconcile(`verifications-of-${api.host.id}`, new AbortController().signal);
}

/** Has the verification of an archive be due, and no other. */
async function becomeDue(id: string): Promise<void> {
  await api.db`update archives set verify_at = case when id = ${id} then now() else 'infinity' end`;
}

interface Shown {
  data: { meta: { backup: Record<string, unknown> } };
}

async function read<T>(path: string): Promise<T> {
  return (await (await api.request(path)).json()) as T;
}

async function backupOf(path: string, id: string) {
  return (await read<Shown>(`${path}/${id}`)).data.meta.backup;
}

async function eventsOf(id: string) {
  const { data } = await read<{ data: { attributes: { type: string; details: object; message: string } }[] }>(
    `/api/events?filter[resource]=${id}&filter[type]=backup.verified,backup.verification_failed,backup.lagging`,
  );
  return data.map(({ attributes }) => attributes);
}

test.each(SLEEPERS)("the first backup of $kind is verified, kept and shown", async (sleeper) => {
  const { id, backup } = await backedUp(sleeper);
  await runOnce();
  const [row] = await api.db<{ minutes: number }[]>`
    select extract(epoch from verify_at - now())::float8 / 60 as minutes from archives where id = ${id}`;
  expect(Math.round(row?.minutes ?? 0)).toBe(60);
  expect(asked.some(({ archive }) => archive === id)).toBe(false);

  await becomeDue(id);
  await runOnce();
  expect(asked.at(-1)).toEqual({ archive: id, target: { backup } });
  await follower.pass();
  expect(await backupOf(sleeper.path, id)).toMatchObject({
    verified_at: expect.any(String),
    verified_restore_seconds: 4.2,
    last_error: null,
  });
  const whole = await api.request(`${sleeper.path}/${id}/backups`);
  expect(((await whole.clone().json()) as { data: object }).data).toMatchObject({
    verified_restore_seconds: 4.2,
    verification: { backup, checked: 312, is_complete: true, faults: [], last_error: null },
  });
  const document = await documentOf(api);
  await expectDocumented(document, `${sleeper.path.replace("/api", "")}/{id}/backups`, "get", whole);
  const [event] = await eventsOf(id);
  expect(event).toMatchObject({
    type: "backup.verified",
    details: { backup, bytes: 8_192, restore_seconds: 4.2 },
  });

  // Nothing has changed since, so the next one is left out.
  const before = asked.length;
  await becomeDue(id);
  await runOnce();
  expect(asked).toHaveLength(before);
});

test("a fault is kept and shown until a later restore is sound, and each result has its event", async () => {
  const [, sleeper] = SLEEPERS;
  const { id } = await backedUp(sleeper);
  const fault = "main: public.words: the heap is damaged";
  answer = () => ({ faults: [fault], isComplete: false });
  await becomeDue(id);
  await runOnce();
  await follower.pass();
  expect(await backupOf(sleeper.path, id)).toMatchObject({
    verified_at: null,
    last_error: `The latest verified restore found a fault: ${fault}`,
  });
  answer = () => ({});
  await api.db`
    update archives set verification = verification || '{"endedAt": "2026-01-01T00:00:00Z"}' where id = ${id}`;
  await becomeDue(id);
  await runOnce();
  await follower.pass();
  expect(await backupOf(sleeper.path, id)).toMatchObject({
    verified_at: expect.any(String),
    last_error: null,
  });
  const events = await eventsOf(id);
  expect(events.map(({ type }) => type)).toEqual(["backup.verified", "backup.verification_failed"]);
  expect(events[1]?.message).toEndWith(`has a backup with a fault. ${fault}`);
});

test("a restore that the host cannot verify now is tried again, and no fault", async () => {
  const [, sleeper] = SLEEPERS;
  const { id } = await backedUp(sleeper);
  const reason = "The disk of the host has no room for a copy that could be verified.";
  answer = () => {
    throw new PublicError(reason);
  };
  await becomeDue(id);
  await runOnce();
  answer = () => ({});
  await follower.pass();
  expect(await backupOf(sleeper.path, id)).toMatchObject({ verified_at: null, last_error: null });
  const { data } = await read<{ data: { verification: object } }>(`${sleeper.path}/${id}/backups`);
  expect(data.verification).toMatchObject({ ended_at: null, last_error: reason });
  expect(await eventsOf(id)).toEqual([]);
  const [row] = await api.db<{ isPlanned: boolean }[]>`
    select verify_at > now() + interval '50 minutes' as "isPlanned" from archives where id = ${id}`;
  expect(row?.isPlanned).toBe(true);
});

test("metrics have what the answers have, of the archives that a token may see", async () => {
  const [, sleeper] = SLEEPERS;
  const { id, backup } = await backedUp(sleeper);
  await becomeDue(id);
  await runOnce();
  await follower.pass();
  expect(asked.at(-1)?.target).toEqual({ backup });
  const figures = (await backupGauges.read(api.context)).filter(({ labels }) => labels.id === id);
  expect(Object.fromEntries(figures.map(({ name, value }) => [name, value]))).toEqual({
    pilvi_backup_stored_bytes: 4_096,
    pilvi_backup_latest_timestamp_seconds: expect.any(Number),
    pilvi_backup_failing: 0,
    pilvi_backup_verified_timestamp_seconds: expect.any(Number),
    pilvi_backup_verified_restore_seconds: 4.2,
    pilvi_backup_verification_faults: 0,
  });
  expect(await backupGauges.read(api.context, "elsewhere")).toEqual([]);
});

test("a log that lags behind is reported once, until it has caught up", async () => {
  const [, sleeper] = SLEEPERS;
  const { id } = await backedUp(sleeper);
  const lag = async (lagSeconds: number) => {
    const state = api.archives.states.get(id);
    if (state === undefined) throw new Error("there is no archive");
    const at = "2026-03-15T08:18:53.204112Z";
    const segment = "000000010000000000000003";
    const watermark = { at, segment, lsn: "0/C000000" };
    const whole = { timeline: 1, firstSegment: segment, earliestRestoreTime: at, gaps: [] };
    api.archives.states.set(id, { ...state, log: { ...whole, watermark, lagSeconds } });
    await follower.pass();
  };
  const count = async () => (await eventsOf(id)).length;
  await lag(59);
  expect(await count()).toBe(0);
  await lag(61);
  await lag(300);
  // Another control plane knows what was reported.
  follower = new ArchiveFollower(api, log);
  await lag(400);
  expect(await eventsOf(id)).toMatchObject([{ type: "backup.lagging", details: { lag_seconds: 61 } }]);
  await lag(45);
  await lag(90);
  expect(await count()).toBe(1);
  await lag(0);
  await lag(120);
  expect(await count()).toBe(2);
});

test("a log of which nothing is known any more lags behind, unless its instance sleeps", async () => {
  const [, sleeper] = SLEEPERS;
  const { id } = await backedUp(sleeper);
  const received = api.archives.states.get(id);
  if (received === undefined) throw new Error("there is no archive");
  const at = "2026-03-15T08:18:53.204112Z";
  const segment = "000000010000000000000003";
  const watermark = { at, segment, lsn: "0/C000000" };
  const whole = { timeline: 1, firstSegment: segment, earliestRestoreTime: at, gaps: [], lagSeconds: 0 };
  let now = Date.parse("2026-03-15T08:20:00Z");
  let seen = await api.host.driver.observe(id);
  const archiveStates = new WatchedArchives({ of: () => seen }, () => now);
  let isSilent = false;
  const driver = {
    ...api.host.driver,
    archives: async () => {
      if (isSilent) throw new PublicError("The keeper of backups does not answer.");
      return [{ ...received, log: { ...whole, watermark } }];
    },
  };
  const silent = new ArchiveFollower({ db: api.db, host: { id: api.host.id, driver, archiveStates } }, log);
  const pass = async (seconds: number) => {
    now += seconds * 1_000;
    await silent.pass().catch(() => undefined);
    const { log: taken, lastError } = archiveStates.of(id) ?? received;
    return [taken?.lagSeconds, lastError === null];
  };
  expect(await pass(0)).toEqual([0, true]);
  isSilent = true;
  expect(await pass(10)).toEqual([0, true]);
  expect(await pass(40)).toEqual([50, false]);
  expect(await eventsOf(id)).toEqual([]);
  expect(await pass(20)).toEqual([70, false]);
  expect(await eventsOf(id)).toMatchObject([{ type: "backup.lagging", details: { lag_seconds: 70 } }]);
  isSilent = false;
  expect(await pass(1)).toEqual([0, true]);
  isSilent = true;
  seen = { ...seen, state: "asleep", since: "2026-03-15T08:20:00.000Z" };
  expect(await pass(600)).toEqual([0, false]);
});
