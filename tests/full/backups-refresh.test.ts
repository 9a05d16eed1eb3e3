// Refreshes of masked and of sleeping clones, and refreshes whose control plane, host, keeper or engine is killed at each step: the same
// end, and nothing is left over.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import {
  createCluster,
  deleteCluster,
  startDatabases,
  untilCluster,
  type ClusterDocument,
} from "../support/pilvi/databases.ts";
import { Failpoints, until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { killIfThere } from "../support/pilvi/processes.ts";
import { runPilvi } from "../support/pilvi/program.ts";
import {
  beginRefresh,
  clone,
  identityOf,
  refresh,
  run,
  untilStagesAreGone,
  untilTidy,
} from "../support/pilvi/refreshes.ts";

const ENGINES = ["hosted_serverless_postgres", "platform_mysql"] as const;

/** The clone serves its former data at these. */
const WHILE_SERVING = [
  "refresh.placed",
  "host.restore.unpacked",
  "refresh.built",
  "reconcile.masking",
  "refresh.masked",
  "refresh.swapping",
];

const IN_THE_SWAP = [
  "host.adopt.stopped",
  "host.adopt.taken",
  "host.adopt.noted",
  "host.adopt.parted",
  "host.adopt.placed",
  "refresh.removed",
];

interface Family {
  parent: DatabaseClusterResource;
  made: DatabaseClusterResource;
  rows: number;
}

let pilvi: TestPilvi;
const failpoints = new Failpoints();
const families = new Map<string, Family>();
beforeAll(async () => {
  pilvi = await startDatabases(failpoints.env);
  for (const type of ENGINES) {
    const parent = await createCluster(pilvi, { name: "parent", type });
    await run(parent, "create table people (id int, email varchar(100))");
    const mask = { sql: "update people set email = 'masked'" };
    families.set(type, { parent, made: await clone(pilvi, parent.id, { mask }), rows: 0 });
  }
});
afterAll(async () => {
  await pilvi.close();
  failpoints.close();
});

const count = async (cluster: DatabaseClusterResource, where: string): Promise<number> =>
  Number(await run(cluster, `select count(*) from people where ${where}`));

const CELLS = ENGINES.flatMap((type) =>
  [...WHILE_SERVING, ...IN_THE_SWAP].map((step) => [type, step] as const),
);

/** Processes that the step itself does not run in, killed while it waits. */
const BYSTANDERS = ENGINES.flatMap((type) =>
  ["host.restore.unpacked", "refresh.masked"].flatMap((step) =>
    (["keeper", "engine"] as const).map((victim) => [type, step, victim] as const),
  ),
);

test.each(CELLS)("a refresh of a %s at %s survives a kill", async (type, step) => {
  await refreshWithKill(type, step, (_, pid) => process.kill(pid, "SIGKILL"));
});

test.each(BYSTANDERS)("a refresh of a %s at %s survives a kill of the %s", async (type, step, victim) => {
  await refreshWithKill(type, step, ({ id }) => {
    if (victim === "keeper") return pilvi.kill("keeper");
    const pids = pilvi.enginePids(id);
    expect(pids.length).toBeGreaterThan(0);
    for (const pid of pids) killIfThere(pid);
  });
});

/** Refreshes a clone, kills a process while the refresh is stopped at the step, and checks its end. */
async function refreshWithKill(
  type: (typeof ENGINES)[number],
  step: string,
  kill: (made: DatabaseClusterResource, pid: number) => void,
): Promise<void> {
  const family = families.get(type);
  if (family === undefined) throw new Error("the clone was not made");
  const { parent, made } = family;
  await run(parent, "insert into people values (1, 'somebody@example.org')");
  failpoints.arm(step);
  await beginRefresh(pilvi, made.id);
  const pid = await failpoints.reached();
  if (WHILE_SERVING.includes(step) && step !== "refresh.swapping")
    expect(await count(made, "true")).toBe(family.rows);
  kill(made, pid);
  failpoints.release();
  family.rows += 1;
  await until("the API is back", async () =>
    pilvi.api("GET", "/databases/clusters").then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
  const refreshed = await untilCluster(pilvi, made.id, "available");
  expect(refreshed.meta.refresh).toMatchObject({ status: "done", last_error: null });
  expect(identityOf(refreshed)).toEqual(identityOf(made));
  expect(await count(refreshed, "true")).toBe(family.rows);
  expect(await count(refreshed, "email <> 'masked'")).toBe(0);
  await untilTidy(pilvi, made);
}

test("a masked clone is masked again, and keeps its former data when the mask fails", async () => {
  const parent = await createCluster(pilvi, { name: "people" });
  await run(parent, "create table people as select n as id, 'a@b.org' as email from generate_series(1, 9) n");
  const sql = "update people set email = 'masked'";
  const made = await clone(pilvi, parent.id, { mask: { sql } });
  await run(parent, "insert into people values (10, 'later@b.org')");
  const state = "select string_agg(distinct email, ',') || count(*) from people";
  expect(await run(await refresh(pilvi, made.id), state)).toBe("masked10");
  await untilTidy(pilvi, made);
  await run(parent, "alter table people rename to persons");
  const failed = await refresh(pilvi, made.id);
  expect(failed.meta.refresh).toMatchObject({
    status: "failed",
    last_error: expect.stringContaining('relation "people" does not exist'),
  });
  expect(await run(failed, state)).toBe("masked10");
  expect(identityOf(failed)).toEqual(identityOf(made));
  await untilTidy(pilvi, made);
  await run(parent, "alter table persons rename to people");
  expect((await refresh(pilvi, made.id)).meta.refresh).toMatchObject({ status: "done", last_error: null });
  await untilTidy(pilvi, made);
});

test("a clone that sleeps gets the data, and is deleted with the refresh that is under way", async () => {
  const parent = await createCluster(pilvi, { name: "sleepers" });
  await run(parent, "create table kept (id int)");
  const made = await clone(pilvi, parent.id);
  await run(parent, "insert into kept values (1)");
  for (const { id } of [parent, made]) await pilvi.api("POST", `/databases/clusters/${id}/suspend`);
  expect(Number(await run(await refresh(pilvi, made.id), "select count(*) from kept"))).toBe(1);
  await pilvi.api("POST", `/databases/clusters/${made.id}/refresh`, {});
  await deleteCluster(pilvi, made.id);
  await untilStagesAreGone(pilvi);
});

test("the command gives a clone the data of an instant, and names instants that there are not", async () => {
  const config = { retention_days: 1, suspend_seconds: 0 };
  const parent = await createCluster(pilvi, { name: "ledger", config });
  await run(parent, "create table entries as select 1 as id");
  const read = async () =>
    (await pilvi.api<ClusterDocument>("GET", `/databases/clusters/${parent.id}`)).body.data;
  await until(
    "the first backup is there",
    async () => (await read()).attributes.earliest_restore_time !== "",
  );
  const made = await clone(pilvi, parent.id);
  await run(parent, "insert into entries values (2)");
  const at = String(await run(parent, "select to_json(clock_timestamp())"));
  await run(parent, "truncate entries");
  await until(
    "the log reaches the instant",
    async () => Date.parse((await read()).meta.backup?.latest_restore_time ?? "") > Date.parse(at),
  );
  const command = ["databases", "refresh", made.id, "--wait", "--at"];
  expect((await runPilvi([...command, at], pilvi.env)).code).toBe(0);
  const entries = "select string_agg(id::text, ',' order by id) from entries";
  expect(await run(made, entries)).toBe("1,2");
  const refused = await runPilvi([...command, "3 days ago"], pilvi.env);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("restore_time");
  expect(await run(made, entries)).toBe("1,2");
});
