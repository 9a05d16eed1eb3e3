// The databases of a clone whose source has lost one by a statement: it is not made anew in the clone.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import type { DatabaseSpec, MysqlSpec, PostgresSpec } from "../../contracts/instance-spec.ts";
import { newId } from "../../lib/ids.ts";
import { customerDatabase, sleepySpec } from "../test-support.ts";
import { BackupStage } from "./test-support.ts";

type ClusterSpec = PostgresSpec | MysqlSpec;

const stage = new BackupStage();
beforeAll(() => stage.start(), 60_000);
afterAll(() => stage.close());

function withDatabases(spec: ClusterSpec, names: string[]): ClusterSpec {
  const owner = spec.users[0]?.name ?? "";
  const databases = names.map((name): DatabaseSpec => ({ name, owner, desiredState: "present" }));
  return { ...spec, databases };
}

async function ask(spec: ClusterSpec, statement: string): Promise<unknown[]> {
  const db = customerDatabase(spec.kind, await stage.gateway.until(spec.id, "running"));
  try {
    return await db.unsafe(statement);
  } finally {
    await db.close();
  }
}

const LISTS = {
  postgres: "select datname as name from pg_database where datname in ('main', 'lost', 'later') order by 1",
  mysql:
    "select schema_name as name from information_schema.schemata where schema_name in ('main', 'lost', 'later') order by 1",
};

async function namesIn(spec: ClusterSpec): Promise<string[]> {
  const rows = (await ask(spec, LISTS[spec.kind])) as { name: string }[];
  return rows.map(({ name }) => name);
}

describe.each(["postgres", "mysql"] as const)("a clone of a %s", (kind) => {
  test("lacks the database that its source has lost, and gets a database that is ordered later", async () => {
    const source = withDatabases(sleepySpec(kind) as ClusterSpec, ["main", "lost"]);
    expect(await stage.driver.ensure(source)).toMatchObject({ state: "running", lastError: null });
    expect(await namesIn(source)).toEqual(["lost", "main"]);
    await ask(source, "drop database lost");
    const exposure = { ...source.exposure, port: freePort() };
    const clone: ClusterSpec = { ...source, id: newId("db"), exposure, origin: { instance: source.id } };
    expect(await stage.driver.ensure(clone)).toMatchObject({
      state: "running",
      lastError: null,
      missingDatabases: ["lost"],
    });
    expect(await namesIn(clone)).toEqual(["main"]);
    const settled = withDatabases(clone, ["main"]);
    expect((await stage.driver.ensure(settled)).missingDatabases).toBeUndefined();
    expect(
      (await stage.driver.ensure(withDatabases(clone, ["main", "later"]))).pendingDatabases,
    ).toBeUndefined();
    expect(await namesIn(clone)).toEqual(["later", "main"]);
    await ask(clone, "drop database later");
    await Promise.all([source, clone].map(({ id }) => stage.driver.remove(id)));
  });
});
