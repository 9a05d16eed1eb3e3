// Creates each extension that `GET /databases/types` lists, in a cluster of each version of Postgres, as the customer.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "pg";
import { fitsProcessor } from "../../../src/engines/install/pgvector.ts";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import {
  connectPg,
  createCluster,
  firstOf,
  POSTGRES,
  POSTGRES_MAJORS,
  startDatabases,
} from "../../support/pilvi/databases.ts";
import type { TestPilvi } from "../../support/pilvi/pilvi.ts";

interface Types {
  data: { type: string; extensions: Record<string, { name: string; version: string }[]> }[];
}

/** Extensions that applications most often need, and extensions that Postgres does not trust by default. */
const EXPECTED = ["bloom", "earthdistance", "moddatetime", "pg_prewarm", "pg_trgm", "pgcrypto", "uuid-ossp"];
/** The versions for which a build of pgvector exists, where it can be fetched. */
const WITH_VECTOR = new Set(fitsProcessor() && Bun.which("python3") !== null ? [16, 17, 18] : []);
const LANGUAGES = ["pltcl", "pltclu", "plperl", "plperlu", "plpython3u"];

let pilvi: TestPilvi;
let extensions: Record<string, { name: string; version: string }[]>;

beforeAll(async () => {
  pilvi = await startDatabases();
  const { body } = await pilvi.api<Types>("GET", "/databases/types");
  extensions = body.data.find(({ type }) => type === POSTGRES)?.extensions ?? {};
});

afterAll(async () => {
  await pilvi.close();
});

test("types without extensions list none, and the docs name all listed extensions", async () => {
  const { body } = await pilvi.api<Types>("GET", "/databases/types");
  expect(body.data.find(({ type }) => type === "platform_mysql")?.extensions).toEqual({});
  const docs = readFileSync(join(import.meta.dir, "../../../docs/databases.md"), "utf8");
  const names = new Set(Object.values(extensions).flatMap((known) => known.map(({ name }) => name)));
  for (const name of names) expect(docs).toContain(`\`${name}\``);
});

describe.each(POSTGRES_MAJORS)("Postgres %d", (major) => {
  let cluster: DatabaseClusterResource;
  let customer: Client;

  beforeAll(async () => {
    cluster = await createCluster(pilvi, { version: String(major), name: `extensions-${major}` });
    customer = await connectPg(cluster);
  });

  afterAll(async () => {
    await customer.end();
    await pilvi.api("DELETE", `/databases/clusters/${cluster.id}`);
  });

  test("each listed extension can be created by the customer, in the listed version", async () => {
    const listed = extensions[major] ?? [];
    const names = listed.map(({ name }) => name);
    for (const name of EXPECTED) expect(names).toContain(name);
    for (const { name, version } of listed) {
      await customer.query(`create extension "${name}" cascade`);
      const found = `select extversion from pg_extension where extname = '${name}'`;
      expect([name, await firstOf(customer, found)]).toEqual([name, version]);
    }
    await customer.query(`drop extension ${names.map((name) => `"${name}"`).join(", ")} cascade`);
  });

  test("functions that Pilvi opened to customers work for them, and start no process", async () => {
    await customer.query("create extension bloom; create extension earthdistance cascade");
    await customer.query("create extension moddatetime; create extension pg_prewarm");
    await customer.query("create table places (id int, at earth, changed timestamptz)");
    await customer.query("create index on places using bloom (id)");
    await customer.query(
      "create trigger t before update on places for each row execute function moddatetime(changed)",
    );
    await customer.query("insert into places values (1, ll_to_earth(60.17, 24.94), null)");
    await customer.query("update places set id = 2");
    expect(await firstOf(customer, "select changed is not null from places")).toBe(true);
    const metres = "select round(earth_distance(at, ll_to_earth(61.5, 23.79)))::int from places";
    expect(await firstOf(customer, metres)).toBeWithin(155_000, 165_000);
    expect(await firstOf(customer, "select pg_prewarm('places')::int")).toBeGreaterThan(0);
    for (const name of ["autoprewarm_start_worker", "autoprewarm_dump_now"]) {
      await expect(customer.query(`select ${name}()`)).rejects.toMatchObject({ code: "42501" });
    }
  });

  test("vectors are found by distance where a build of pgvector fits, and are not offered elsewhere", async () => {
    const names = (extensions[major] ?? []).map(({ name }) => name);
    expect(names.includes("vector")).toBe(WITH_VECTOR.has(major));
    if (!WITH_VECTOR.has(major)) return;
    await customer.query("create extension vector; create table items (id int, place vector(3))");
    await customer.query(
      "insert into items select n, array[n, n % 7, n % 11]::vector from generate_series(1, 1000) n",
    );
    await customer.query("create index on items using hnsw (place vector_l2_ops)");
    await customer.query("set enable_seqscan = off");
    const nearest = "select id from items order by place <-> '[500,3,5]' limit 1";
    expect(await firstOf(customer, nearest)).toBe(500);
    const plan = (await customer.query(`explain ${nearest}`)).rows.map((row) =>
      String(Object.values(row)[0]),
    );
    expect(plan.join("\n")).toContain("Index Scan using items_place_idx");
    await expect(
      customer.query("create index on items using ivfflat (place vector_l2_ops)"),
    ).rejects.toMatchObject({ code: "42704" });
  });

  test.each(LANGUAGES)("the language %s does not exist", async (name) => {
    await expect(customer.query(`create extension ${name}`)).rejects.toThrow(
      /not available|could not open extension control file/,
    );
  });
});
