// What a restore or a clone reads: orders that would delete it wait or are refused, and so are copies of what is gone.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eraseCache } from "../../src/resources/caches/store.ts";
import { markMasked } from "../../src/resources/databases/masks/store.ts";
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

/** The answers to all that copies the data of a cluster. */
async function copied({ id, path }: { id: string; path: string }) {
  const now = new Date().toISOString();
  const orders = [
    [`${path}/snapshots`, { name: "copy" }],
    [`${path}/clone`, { name: "copy" }],
    [`${path}/clone`, { name: "copy", restore_time: now }],
    [`${path}/restore`, { name: "copy", restore_time: now }],
    [`${path}/restore`, { name: "copy", database_snapshot_id: `snapshot-${id}` }],
  ] as const;
  const answers = [];
  for (const [address, json] of orders) answers.push(await send(address, { json }));
  return answers.map((answer) => [answer.status, answer.body.message]);
}

describe("a masked clone", () => {
  const { path: clusters, body } = SLEEPERS[1];
  const reason = "The data of the database cluster is not masked, so it cannot be copied.";

  /** The path of a clone whose mask has not run. */
  async function unmasked(): Promise<{ id: string; path: string }> {
    const parent = await make(api, SLEEPERS[1], body);
    await becomes(api, "databases", parent.id, "available");
    const json = { name: "clone", mask: { sql: "update people set email = null" } };
    const { data } = (await send(`${clusters}/${parent.id}/clone`, { json })).body;
    return { id: data.id, path: `${clusters}/${data.id}` };
  }

  test.each(["restoring", "restore_failed"])(
    "that is %s is not copied before its data is masked",
    async (status) => {
      const clone = await unmasked();
      await becomes(api, "databases", clone.id, status);
      const answers = await copied(clone);
      expect(answers).toEqual(answers.map(() => [409, reason]));
    },
  );

  test("gives its data to no refresh of its own clone before it is masked", async () => {
    const clone = await unmasked();
    await api.db`update databases set origin = origin - 'isMaskPending' where id = ${clone.id}`;
    const { data } = (await send(`${clone.path}/clone`, { json: { name: "copy" } })).body;
    await becomes(api, "databases", data.id, "available");
    await api.db`update databases set origin = origin || '{"isMaskPending": true}' where id = ${clone.id}`;
    const refused = await send(`${clusters}/${data.id}/refresh`, { json: {} });
    expect([refused.status, refused.body.message]).toEqual([409, reason]);
  });

  test("is copied once its data is masked", async () => {
    const clone = await unmasked();
    await api.db.begin(async (tx) => await markMasked(tx, clone.id));
    await becomes(api, "databases", clone.id, "available");
    const [snapshot, copy] = await copied(clone);
    expect([snapshot, copy]).toEqual([
      [201, undefined],
      [201, undefined],
    ]);
  });
});
