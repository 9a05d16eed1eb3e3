// Refreshes of clones of database clusters from their parents, with real engines, host and keeper.
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  createCluster,
  createDatabase,
  deleteCluster,
  startDatabases,
} from "../../support/pilvi/databases.ts";
import type { TestPilvi } from "../../support/pilvi/pilvi.ts";
import { clone, identityOf, refresh, run, untilTidy } from "../../support/pilvi/refreshes.ts";

let pilvi: TestPilvi;
beforeAll(async () => {
  pilvi = await startDatabases();
});
afterAll(() => pilvi.close());

const COUNT = "select count(*) from kept";

test.each(["hosted_serverless_postgres", "platform_mysql"] as const)(
  "a clone of a %s gets the data of its parent again, and stays the same cluster otherwise",
  async (type) => {
    const parent = await createCluster(pilvi, { name: "parent", type });
    await run(parent, "create table kept (id int)");
    await run(parent, "insert into kept values (1)");
    const made = await clone(pilvi, parent.id);
    expect(made.meta.refresh?.status).toBe("never");
    await run(made, "create table own (id int)");
    await run(parent, "insert into kept values (2)");
    await createDatabase(pilvi, parent.id, "later");
    await createDatabase(pilvi, made.id, "own");
    const refreshed = await refresh(pilvi, made.id);
    expect(identityOf(refreshed)).toEqual(identityOf(made));
    expect(refreshed.meta.refresh).toMatchObject({ status: "done", last_error: null });
    expect(Number(await run(refreshed, COUNT))).toBe(2);
    await expect(run(refreshed, "select * from own")).rejects.toThrow(/exist/);
    const path = `/databases/clusters/${made.id}/databases`;
    const { body } = await pilvi.api<{ data: { attributes: { name: string } }[] }>("GET", path);
    expect(body.data.map(({ attributes }) => attributes.name).toSorted()).toEqual(["later", "main"]);
    await untilTidy(pilvi, made);
    await Promise.all([parent, made].map(({ id }) => deleteCluster(pilvi, id)));
  },
);
