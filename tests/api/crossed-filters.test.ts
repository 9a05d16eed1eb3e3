// Lists with filters that cross: a page reads few rows, however many there are that the filter keeps out.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { listActivity, type ActivityFilter } from "../../src/resources/activity/store.ts";
import { listEvents, type EventFilter } from "../../src/resources/shared/events/list.ts";
import type { Database } from "../../src/store/database.ts";
import { rowsRead } from "../support/api/reads.ts";
import { freshDatabase } from "../support/engines/postgres.ts";

const ROWS = 50_000;
const SIZE = 10;
/** A page, and a step to each of the few types or kinds with their actions. */
const FEW = 10 * (SIZE + 1);
const PAGE = { cursor: null, size: SIZE };
const UNFILTERED = { organizationId: "org-a", since: null, until: null };

let db: Database;
beforeAll(async () => {
  db = await freshDatabase();
  // One resource has half of all, and none of it is what the other half is.
  await db`
    insert into audit (organization_id, user_id, action, resource_kind, resource_id, at)
    select 'org-a', 'user-1', case n % 2 when 0 then 'update' else 'create' end,
           case n % 2 when 0 then 'caches' else 'databases' end,
           case n % 2 when 0 then 'cache-1' else 'db-' || n end, now() - n * interval '1 second'
    from generate_series(1, ${ROWS}) n`;
  await db`
    insert into events (organization_id, at, type, resource_type, resource_id, resource_name)
    select 'org-a', now() - n * interval '1 second', case n % 2 when 0 then 'changed' else 'created' end,
           case n % 2 when 0 then 'caches' else 'databases' end,
           case n % 2 when 0 then 'cache-1' else 'db-' || n end, 'x'
    from generate_series(1, ${ROWS}) n`;
});
afterAll(() => db.close());

describe("a page of activity", () => {
  const all = { ...UNFILTERED, actions: null, kinds: null, resourceIds: null };
  test.each<[what: string, filter: Partial<ActivityFilter>, found: number]>([
    ["without a filter", {}, SIZE],
    ["of a kind", { kinds: ["caches"] }, SIZE],
    ["of an action", { actions: ["create"] }, SIZE],
    ["of a resource", { resourceIds: ["cache-1", "db-1"] }, SIZE],
    ["of a kind and its action", { kinds: ["caches"], actions: ["update"] }, SIZE],
    ["of a kind and an action of others", { kinds: ["caches"], actions: ["create"] }, 0],
    ["of a resource and another action", { resourceIds: ["cache-1"], actions: ["create"] }, 0],
    ["of a resource and another kind", { resourceIds: ["cache-1"], kinds: ["databases"] }, 0],
    [
      "of a resource, its kind and its action",
      { resourceIds: ["db-1"], kinds: ["databases"], actions: ["create"] },
      1,
    ],
  ])("%s reads few rows", async (_what, filter, found) => {
    let rows = 0;
    const read = await rowsRead(db, "audit", async (tx) => {
      ({
        rows: { length: rows },
      } = await listActivity(tx, { ...all, ...filter }, PAGE));
    });
    expect(rows).toBe(found);
    expect(read).toBeLessThan(FEW);
  });
});

describe("a page of events", () => {
  const all = { organizationId: "org-a", types: null, resourceTypes: null, resourceIds: null };
  test.each<[what: string, filter: Partial<EventFilter>, found: number]>([
    ["of a resource", { resourceIds: ["cache-1", "db-1"] }, SIZE],
    [
      "of a resource and its type",
      { resourceIds: ["cache-1"], types: ["changed"], resourceTypes: ["caches"] },
      SIZE,
    ],
    ["of a resource and another type", { resourceIds: ["cache-1"], types: ["created"] }, 0],
    [
      "of a resource and another resource type",
      { resourceIds: ["cache-1"], resourceTypes: ["databases"] },
      0,
    ],
    ["of a resource type and a type of others", { resourceTypes: ["caches"], types: ["created"] }, 0],
  ])("%s reads few rows", async (_what, filter, found) => {
    let rows = 0;
    const read = await rowsRead(db, "events", async (tx) => {
      ({
        rows: { length: rows },
      } = await listEvents(tx, { ...all, ...filter }, { ...UNFILTERED, ...PAGE }));
    });
    expect(rows).toBe(found);
    expect(read).toBeLessThan(FEW);
  });
});
