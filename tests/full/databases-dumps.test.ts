// Dumps by customers, with the official programs and their own password alone, restored into other clusters.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  createDatabase,
  loginOf,
  MYSQL,
  POSTGRES_MAJORS,
  startDatabases,
} from "../support/pilvi/databases.ts";
import { freshDataDir, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { complaintsOf, runProgram } from "../support/clients/programs.ts";
import {
  mysqlContent,
  mysqlQuestions,
  postgresContent,
  postgresQuestions,
} from "../e2e/databases/content.ts";

/** The machine's `pg_dump` reads versions up to its own, and writes for versions from its own on. */
const DUMPER = Number(/(\d+)/.exec(await runProgram(["pg_dump", "--version"]))?.[1]);
const SOURCES = [...new Set([Math.min(...POSTGRES_MAJORS), DUMPER])];
const TARGETS = POSTGRES_MAJORS.filter((major) => major >= DUMPER);

let pilvi: TestPilvi;
let folder: string;

beforeAll(async () => {
  pilvi = await startDatabases();
  folder = freshDataDir();
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await pilvi.close();
});

describe("Postgres", () => {
  let targets: Map<number, DatabaseClusterResource>;

  beforeAll(async () => {
    const created = TARGETS.map(async (major) => [major, await createPostgres(major)] as const);
    targets = new Map(await Promise.all(created));
  });

  function targetOf(major: number): DatabaseClusterResource {
    const cluster = targets.get(major);
    if (cluster === undefined) throw new Error(`there is no cluster of version ${major}`);
    return cluster;
  }

  async function freshDatabase(major: number, database: string): Promise<Place> {
    const cluster = targetOf(major);
    await createDatabase(pilvi, cluster.id, database);
    return { cluster, database };
  }

  describe.each(SOURCES)("%i dumped", (source) => {
    let origin: Place;
    let content: unknown[];

    beforeAll(async () => {
      origin = { cluster: await createPostgres(source), database: "main" };
      const client = await connectPg(origin.cluster);
      for (const sql of postgresContent) await client.query(sql);
      await client.end();
      content = await postgresAnswers(origin);
      for (const format of ["plain", "custom", "directory"]) {
        const options = [`--format=${format}`, `--file=${fileOf(source, format)}`];
        expect(await postgresProgram(origin, "pg_dump", ...options)).toBe("");
      }
    });

    test.each(TARGETS)("as SQL, and restored into %i by psql", async (major) => {
      const place = await freshDatabase(major, `plain-${source}`);
      const options = ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1"];
      expect(await postgresProgram(place, "psql", ...options, `--file=${fileOf(source, "plain")}`)).toBe("");
      expect(await postgresAnswers(place)).toEqual(content);
    });

    test.each(TARGETS)("in its own format, and restored into %i, twice", async (major) => {
      const place = await freshDatabase(major, `custom-${source}`);
      const file = fileOf(source, "custom");
      expect(await postgresProgram(place, "pg_restore", file)).toBe("");
      const clean = ["--clean", "--if-exists", "--single-transaction"];
      expect(await postgresProgram(place, "pg_restore", ...clean, file)).toBe("");
      expect(await postgresAnswers(place)).toEqual(content);
    });

    test("as a folder, and restored by two sessions", async () => {
      const place = await freshDatabase(DUMPER, `directory-${source}`);
      expect(await postgresProgram(place, "pg_restore", "--jobs=2", fileOf(source, "directory"))).toBe("");
      expect(await postgresAnswers(place)).toEqual(content);
    });

    test("and restored over the database that was there", async () => {
      const place = { cluster: targetOf(DUMPER), database: "postgres" };
      const options = ["--create", "--clean", "--if-exists"];
      expect(await postgresProgram(place, "pg_restore", ...options, fileOf(source, "custom"))).toBe("");
      expect(await postgresAnswers({ ...place, database: "main" })).toEqual(content);
    });

    test("and dumped again after a restore, without a difference", async () => {
      const place = await freshDatabase(DUMPER, `again-${source}`);
      await postgresProgram(place, "pg_restore", fileOf(source, "custom"));
      expect(await structureOf(place)).toEqual(await structureOf(origin));
    });
  });

  test("dumped, and restored where all schemas were dropped", async () => {
    const place = await freshDatabase(DUMPER, "dropped");
    const client = await connectPg(place.cluster, { database: place.database });
    await client.query("drop schema public cascade; create schema public");
    await client.end();
    expect(await postgresProgram(place, "pg_restore", fileOf(DUMPER, "custom"))).toBe("");
    expect(await postgresAnswers(place)).toContainEqual([{ has_some: true }]);
  });
});

/** A database in a cluster. */
interface Place {
  cluster: DatabaseClusterResource;
  database: string;
}

async function createPostgres(major: number): Promise<DatabaseClusterResource> {
  return await createCluster(pilvi, { version: String(major) });
}

function fileOf(source: number, format: string): string {
  return join(folder, `${source}.${format}`);
}

/** Runs an official program with nothing but the API's answer, and returns its warnings. */
async function postgresProgram(place: Place, program: string, ...options: string[]): Promise<string> {
  const { url, env } = urlOf(place);
  return await complaintsOf([program, `--dbname=${url}`, ...options], env);
}

function urlOf({ cluster, database }: Place) {
  const { user, host, port, password } = loginOf(cluster);
  return { url: `postgres://${user}@${host}:${port}/${database}`, env: { PGPASSWORD: password } };
}

async function postgresAnswers({ cluster, database }: Place): Promise<unknown[]> {
  const client = await connectPg(cluster, { database });
  const answers = [];
  for (const sql of postgresQuestions) answers.push((await client.query(sql)).rows);
  await client.end();
  return answers;
}

/** A dump without rows, and without the lines that differ in each dump: a random key, and the version of its source. */
async function structureOf(place: Place): Promise<string[]> {
  const { url, env } = urlOf(place);
  const dump = await runProgram(["pg_dump", `--dbname=${url}`, "--schema-only"], env);
  return dump.split("\n").filter((line) => !/^(\\(un)?restrict|-- Dumped from) /.test(line));
}

describe("MySQL", () => {
  const options = ["--single-transaction", "--routines", "--triggers", "--events"];
  let origin: Place;
  let target: DatabaseClusterResource;
  let content: unknown[];

  beforeAll(async () => {
    // In a grant an unescaped underscore would stand for any character.
    origin = { cluster: await createCluster(pilvi, { type: MYSQL }), database: "a_b" };
    target = await createCluster(pilvi, { type: MYSQL });
    await createDatabase(pilvi, origin.cluster.id, "a_b");
    await createDatabase(pilvi, target.id, "a_b");
    const connection = await connectMysql(origin.cluster, { database: "a_b" });
    for (const sql of mysqlContent) await connection.query(sql);
    await connection.end();
    content = await mysqlAnswers(origin);
  });

  test.each(["main", "a_b"])("dumped, and restored into %s of another cluster", async (database) => {
    const file = join(folder, `${database}.sql`);
    const place = { cluster: target, database };
    expect(await mysqlProgram(origin, ["mariadb-dump", ...options, `--result-file=${file}`, "a_b"])).toBe("");
    expect(await mysqlProgram(place, ["mariadb", database], file)).toBe("");
    expect(await mysqlAnswers(place)).toEqual(content);
    expect(await mysqlStructureOf(place)).toEqual(await mysqlStructureOf(origin));
  });

  test("dumped with its database, and restored over the content that was there", async () => {
    const file = join(folder, "databases.sql");
    const place = { cluster: target, database: "a_b" };
    const whole = ["--databases", "--add-drop-database", `--result-file=${file}`, "a_b"];
    expect(await mysqlProgram(origin, ["mariadb-dump", ...options, ...whole])).toBe("");
    expect(await mysqlProgram(place, ["mariadb"], file)).toBe("");
    expect(await mysqlProgram(place, ["mariadb"], file)).toBe("");
    expect(await mysqlAnswers(place)).toEqual(content);
  });

  test("dumped without options", async () => {
    const dump = await runProgram(["mariadb-dump", ...loginOptions(origin), "a_b"], mysqlEnv(origin));
    expect(dump).toContain("-- Dump completed on ");
  });

  async function mysqlStructureOf(place: Place): Promise<string[]> {
    const brief = ["--skip-comments", "--no-data", place.database];
    const command = ["mariadb-dump", ...loginOptions(place), ...options, ...brief];
    return (await runProgram(command, mysqlEnv(place))).split("\n");
  }
});

async function mysqlProgram(place: Place, [program = "", ...options]: string[], input?: string) {
  return await complaintsOf([program, ...loginOptions(place), ...options], mysqlEnv(place), input);
}

function loginOptions({ cluster }: Place): string[] {
  const { host, port, user } = loginOf(cluster);
  return [`--host=${host}`, `--port=${port}`, `--user=${user}`];
}

function mysqlEnv({ cluster }: Place): Record<string, string> {
  return { MYSQL_PWD: loginOf(cluster).password };
}

async function mysqlAnswers({ cluster, database }: Place): Promise<unknown[]> {
  const connection = await connectMysql(cluster, { database });
  const answers = [];
  for (const sql of mysqlQuestions) answers.push((await connection.query(sql))[0]);
  await connection.end();
  return answers;
}
