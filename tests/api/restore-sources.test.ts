// What a restore or a clone reads: orders that would delete it wait or are refused, and so are copies of what is gone.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eraseCache } from "../../src/resources/caches/store.ts";
import { eraseDatabaseCluster } from "../../src/resources/databases/store.ts";
import { archiveKey } from "../../src/resources/shared/backups/archives.ts";
import { notify } from "../../src/store/notifications.ts";
import type { TestApi } from "../support/api/api.ts";
import { startArchivingApi, type ArchivingApi } from "../support/api/archives.ts";
import { becomes, make, SLEEPERS } from "../support/api/resources-api.ts";
import { until } from "../support/pilvi/pilvi.ts";

interface Answer {
  data: { id: string; attributes: { status: string } };
  message?: string;
  errors?: Record<string, string[]>;
}

const KINDS = [
  { sleeper: SLEEPERS[0], snapshots: "/api/cache-snapshots", field: "cache_snapshot_id" },
  { sleeper: SLEEPERS[1], snapshots: "/api/database-snapshots", field: "database_snapshot_id" },
] as const;

let api: ArchivingApi;
beforeAll(async () => {
  api = await startArchivingApi();
});
afterAll(() => api.stop());

async function send(path: string, init: Parameters<TestApi["request"]>[1] = {}) {
  const response = await api.request(path, init);
  const text = await response.text();
  return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as Answer };
}

/** Whether the reconciler has nothing to do for an archive now, or has removed it. */
async function isArchiveSettled(id: string): Promise<boolean> {
  const unsettled = await api.db`
    select from work where kind = 'archives' and id = ${archiveKey(id)}
      and (owner is not null or deadline_at is not null)`;
  return unsettled.length === 0;
}

describe.each(KINDS)("a source of $sleeper.kind", ({ sleeper, snapshots, field }) => {
  const { kind } = sleeper;

  /** An instance with available snapshots. */
  async function saved(count = 1): Promise<{ id: string; path: string; taken: string[] }> {
    const { id } = await make(api, sleeper, sleeper.body);
    await becomes(api, kind, id, "available");
    const path = `${sleeper.path}/${id}`;
    const taken: string[] = [];
    for (let made = 0; made < count; made += 1) {
      const { body } = await send(`${path}/snapshots`, { json: { name: "before" } });
      taken.push(body.data.id);
      await send(`${snapshots}/${body.data.id}?wait=available`);
    }
    return { id, path, taken };
  }

  const restore = (path: string, snapshot = "") =>
    send(`${path}/restore`, { json: { name: "restored", [field]: snapshot } });

  async function erased({ id, path }: { id: string; path: string }): Promise<void> {
    await send(path, { method: "DELETE" });
    await api.db.begin(async (tx) => await (kind === "caches" ? eraseCache : eraseDatabaseCluster)(tx, id));
  }

  test("that is purged keeps its backups until the restores from it have ended, and is restored no more", async () => {
    const source = await saved();
    const [snapshot] = source.taken;
    const restored = (await restore(source.path, snapshot)).body.data;
    await erased(source);
    expect((await send(`${source.path}/backups`, { method: "DELETE" })).status).toBe(204);
    await until("the archive is looked at", () => isArchiveSettled(source.id));
    expect(api.archives.removed).not.toContain(source.id);
    expect((await restore(source.path, snapshot)).status).toBe(404);
    await becomes(api, kind, restored.id, "available");
    await api.db`update work set run_at = now() where kind = 'archives' and id = ${archiveKey(source.id)}`;
    await notify(api.db, "work", archiveKey(source.id));
    await until("nothing is left of it", async () => api.archives.removed.includes(source.id));
  });

  test.each([
    ["deleting", "is being deleted"],
    ["restore_failed", "could not be restored, so it has no data"],
  ])("that is %s is not cloned", async (status, reason) => {
    const { id } = await make(api, sleeper, sleeper.body);
    await becomes(api, kind, id, status);
    const refused = await send(`${sleeper.path}/${id}/clone`, { json: { name: "clone" } });
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining(reason)]);
  });

  if (kind === "databases")
    test("from which an instant is restored keeps the latest snapshot before that", async () => {
      const { path, taken } = await saved(2);
      const json = { name: "restored", restore_time: new Date().toISOString() };
      const { body } = await send(`${path}/restore`, { json });
      const [former, latest] = taken.map((id) => `${snapshots}/${id}`);
      const refused = await send(`${latest}`, { method: "DELETE" });
      expect([refused.status, refused.body.errors?.["id"]?.[0]]).toEqual([
        422,
        expect.stringContaining("A restore reads from this snapshot."),
      ]);
      expect((await send(`${former}`, { method: "DELETE" })).status).toBe(204);
      await becomes(api, kind, body.data.id, "available");
      expect((await send(`${latest}`, { method: "DELETE" })).status).toBe(204);
    });
});
