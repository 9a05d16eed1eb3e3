// Foreign keys of the store: to delete a row looks for rows that refer to it, which without an index is a look at all
// rows of the other table, for each deleted row.
import { expect, test } from "bun:test";
import { freshDatabase } from "../support/engines/postgres.ts";

test("each foreign key has an index that begins with its columns", async () => {
  const db = await freshDatabase();
  // There are few hosts, and none is deleted. A partial index counts where it has all rows whose key is not null.
  const rows = await db<{ name: string }[]>`
    select k.conrelid::regclass || '.' || k.conname as name
    from pg_constraint k
    where k.contype = 'f' and k.confrelid <> 'hosts'::regclass and not exists (
      select from pg_index i
      where i.indrelid = k.conrelid
        and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) = '(' || (
          select attname from pg_attribute where attrelid = k.conrelid and attnum = k.conkey[1]) || ' IS NOT NULL)')
        and (i.indkey::int2[])[0:cardinality(k.conkey) - 1] @> k.conkey)
    order by name`;
  await db.close();
  expect(rows.map(({ name }) => name)).toEqual([]);
});
