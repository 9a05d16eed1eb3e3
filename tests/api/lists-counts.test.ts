// Long lists: totals and pages come from counts in the store, which must match the rows.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { listCaches } from "../../src/resources/caches/store.ts";
import { migrate } from "../../src/store/migrate.ts";
import { migrations } from "../../src/store/migrations.ts";
import type { Database } from "../../src/store/database.ts";
import { startApi, validCache, validServer, type TestApi } from "../support/api/api.ts";
import { insertCacheRows } from "../support/cache-rows.ts";
import { freshDatabase } from "../support/engines/postgres.ts";

const ORGANIZATION = "org-long";
const HOST = "host-1";
const VALUES = { organizationId: ORGANIZATION, hostId: HOST };
/** More rows than a block of segments holds. */
const ROWS = 10_500;
/** The rows that each transaction changes. */
const BATCH = 250;
/** The rows that stay: all rows in this range, and every thirteenth row outside of it. */
const KEPT = { from: 400, to: 800, every: 13 };

interface Row {
  id: string;
  type: string;
  region: string;
  status: string;
}

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  await api.db`insert into organizations (id, name) values (${ORGANIZATION}, 'long')`;
  await insertCacheRows(api.db, 0, ROWS, VALUES);
  for (let from = 0; from < ROWS; from += BATCH) await changeRows(from);
  await insertCacheRows(api.db, ROWS, 20, VALUES);
});
afterAll(() => api.stop());

/** Changes and deletes some of the rows from a name on; a single transaction for all would take minutes. */
async function changeRows(from: number): Promise<void> {
  await api.db.begin(async (tx) => {
    const names = tx`name::int >= ${from} and name::int < ${from + BATCH}`;
    await tx`
      update caches set status = 'creating'
      where organization_id = ${ORGANIZATION} and ${names} and name::int % 7 = 0`;
    await tx`
      update caches set status = 'unknown'
      where organization_id = ${ORGANIZATION} and ${names} and name::int % 251 = 0 and name::int % 7 <> 0`;
    await tx`
      delete from caches
      where organization_id = ${ORGANIZATION} and ${names} and name::int % ${KEPT.every} <> 0
        and name::int not between ${KEPT.from} and ${KEPT.to}`;
  });
}

/** The counts that differ from the rows; empty when all are right. */
async function differences(db: Database): Promise<unknown[]> {
  const counted = `
    select organization_id, level, segment / segments as block, type, region, status, count(*)::int as resources
    from caches cross join (values (0, 1), (1, 32)) as levels (level, segments) group by 1, 2, 3, 4, 5, 6`;
  const kept = `
    select organization_id, level, block, type, region, status, resources from resource_counts where kind = 'caches'`;
  const rows = await db.unsafe(
    `((${counted}) except (${kept})) union all ((${kept}) except (${counted})) order by 1, 2, 3, 4, 5, 6`,
  );
  return [...rows];
}

/** How many rows each block of a level counts. */
function blocksOf(level: number) {
  return api.db<{ resources: number }[]>`
    select sum(resources)::int as resources from resource_counts
    where organization_id = ${ORGANIZATION} and level = ${level} group by block`;
}

/** How many entries of the indexes of caches the session has read; only their increase in a transaction is exact. */
async function entriesRead(tx: Database): Promise<number> {
  const [read] = await tx<{ entries: number }[]>`
    select sum(pg_stat_get_xact_tuples_returned(indexrelid))::int as entries
    from pg_index where indrelid = 'caches'::regclass`;
  return read?.entries ?? 0;
}

async function allRows(): Promise<Row[]> {
  return [
    ...(await api.db<Row[]>`
    select id, type, region, status from caches where organization_id = ${ORGANIZATION} order by id`),
  ];
}

describe("pages of a long list", () => {
  const none = { types: undefined, regions: undefined, statuses: undefined };
  test.each([
    ["no filter", none, 7],
    ["no filter and full pages", none, 100],
    ["a status that is in every segment", { ...none, statuses: ["creating"] }, 7],
    ["a rare status", { ...none, statuses: ["unknown"] }, 2],
    ["two statuses", { ...none, statuses: ["unknown", "creating"] }, 10],
    ["a type", { ...none, types: ["hosted_redis"] }, 9],
    [
      "a type, a region and a status",
      { types: ["platform_valkey"], regions: ["us-east-1"], statuses: ["available"] },
      11,
    ],
    ["a status that no row has", { ...none, statuses: ["deleting"] }, 10],
  ])("with %s hold every row once, in order", async (_, filter, size) => {
    const isWanted = (row: Row) =>
      (filter.types === undefined || filter.types.includes(row.type)) &&
      (filter.regions === undefined || filter.regions.includes(row.region)) &&
      (filter.statuses === undefined || filter.statuses.includes(row.status));
    const expected = (await allRows()).filter(isWanted).map(({ id }) => id);
    const seen: string[] = [];
    for (let number = 1; number <= Math.ceil(expected.length / size) + 1; number += 1) {
      const page = { number, size };
      const { rows, total } = await listCaches(api.db, { organizationId: ORGANIZATION, filter, page });
      expect(total).toBe(expected.length);
      expect(rows.length).toBe(Math.max(0, Math.min(size, expected.length - (number - 1) * size)));
      seen.push(...rows.map(({ id }) => id));
    }
    expect(seen).toEqual(expected);
  });

  test("of few rows in several blocks read these rows alone, and no segments", async () => {
    const filter = { ...none, statuses: ["unknown"] };
    const list = { organizationId: ORGANIZATION, filter, page: { number: 1, size: 10 } };
    await api.db.begin(async (tx) => {
      const before = await entriesRead(tx);
      const { rows, total } = await listCaches(tx, list);
      expect(rows.length).toBe(total);
      // Each row is found in an index of the filtered columns, and read by its id.
      expect((await entriesRead(tx)) - before).toBeLessThanOrEqual(2 * total);
    });
  });

  test("are made of segments of a bounded size in several blocks", async () => {
    expect((await blocksOf(1)).length).toBe(3);
    const segments = await blocksOf(0);
    expect(segments.length).toBeGreaterThan(32);
    for (const { resources } of segments) expect(resources).toBeLessThan(128 + 50);
  });
});

describe("the counts of lists", () => {
  test("match the rows after changes, deletions and creations", async () => {
    expect(await differences(api.db)).toEqual([]);
  });

  test("match the rows after many concurrent changes, and no change waits for ever", async () => {
    const created = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const response = await api.request("/api/caches", { json: validCache });
        expect(response.status).toBe(201);
        return ((await response.json()) as { data: { id: string } }).data.id;
      }),
    );
    const statuses = ["available", "updating", "unknown", "available"];
    await Promise.all(
      created.map(async (id, index) => {
        for (const status of statuses) {
          const other = created[(index * 7 + 3) % created.length] ?? id;
          await api.db`update caches set status = ${status} where id = ${index % 2 === 0 ? id : other}`;
        }
        if (index % 3 === 0) await api.db`delete from caches where id = ${id}`;
      }),
    );
    expect(await differences(api.db)).toEqual([]);
    const { meta } = (await (await api.request("/api/caches?per_page=1")).json()) as {
      meta: { total: number };
    };
    expect(meta.total).toBe(20);
  });

  test("do not change by a transaction that is rolled back", async () => {
    const given = api.db.begin(async (tx) => {
      await tx`delete from caches where organization_id = ${ORGANIZATION}`;
      throw new Error("given up");
    });
    expect(await given.catch((error: Error) => error.message)).toBe("given up");
    expect(await differences(api.db)).toEqual([]);
  });

  test("of a store of an earlier release are computed from its rows", async () => {
    const db = await freshDatabase(migrations.filter(({ name }) => name < "0005"));
    await db`insert into organizations (id, name) values (${ORGANIZATION}, 'long')`;
    await db`insert into hosts (id, name) values (${HOST}, 'test')`;
    const ids = await insertCacheRows(db, 0, 600, VALUES);
    await migrate(db, migrations);
    expect(await differences(db)).toEqual([]);
    const filter = { types: undefined, regions: undefined, statuses: undefined };
    const page = { number: 6, size: 100 };
    const { rows, total } = await listCaches(db, { organizationId: ORGANIZATION, filter, page });
    expect({ total, ids: rows.map(({ id }) => id) }).toEqual({ total: 600, ids: ids.slice(500) });
    await db.close();
  });

  test("of a store with segments of another size are computed anew, and the order of lists stays", async () => {
    const db = await freshDatabase(migrations.filter(({ name }) => name < "0010"));
    await db`insert into organizations (id, name) values (${ORGANIZATION}, 'long')`;
    await db`insert into hosts (id, name) values (${HOST}, 'test')`;
    await insertCacheRows(db, 0, 700, VALUES);
    await db`update caches set status = 'creating', segment = (segment + 1) % 2 where name::int % 7 = 0`;
    const inOrder = () => db<{ id: string }[]>`select id from caches order by segment, id`;
    const former = [...(await inOrder())];
    await migrate(db, migrations);
    expect(await differences(db)).toEqual([]);
    expect([...(await inOrder())]).toEqual(former);
    const filter = { types: undefined, regions: undefined, statuses: ["creating"] };
    const { rows, total } = await listCaches(db, {
      organizationId: ORGANIZATION,
      filter,
      page: { number: 1, size: 100 },
    });
    const creating = [...(await db`select id from caches where status = 'creating' order by segment, id`)];
    expect({ total, ids: rows.map(({ id }) => ({ id })) }).toEqual({ total: 100, ids: creating });
    await insertCacheRows(db, 700, 40, VALUES);
    expect(await differences(db)).toEqual([]);
    await db.close();
  });
});

test("a list that is filtered by name counts the matching rows", async () => {
  for (const name of ["one", "two", "one"])
    await api.request("/api/websocket-servers", { json: { ...validServer, name } });
  const response = await api.request(
    "/api/websocket-servers?filter[name]=one&filter[status]=creating&per_page=1&page=2",
  );
  const { data, meta } = (await response.json()) as {
    data: { attributes: { name: string } }[];
    meta: object;
  };
  expect(data.map(({ attributes }) => attributes.name)).toEqual(["one"]);
  expect(meta).toMatchObject({ total: 2, from: 2, to: 2, last_page: 2 });
});
