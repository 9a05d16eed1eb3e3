// Verifications of restored copies: sound copies pass, and damage in a table or an index is found.
import { afterAll, describe, expect, test } from "bun:test";
import { openSync, closeSync, readdirSync, writeSync } from "node:fs";
import { join } from "node:path";
import { asAdmin, literal, OWN_DATABASE } from "../admin.ts";
import { backup } from "./index.ts";
import { startPrivately } from "./private-server.ts";
import {
  backUpHot,
  cleanUp,
  Cluster,
  enginesUnderTest,
  newFolder,
} from "../../../../tests/support/engines/postgres-cluster.ts";
import { Restore } from "../../../../tests/support/engines/postgres-restore.ts";

afterAll(cleanUp);

const TIMEOUT_MS = 120_000;
const IMMEDIATE = { kind: "immediate" } as const;

/** Settings of a customer that must not keep a verification out. */
const HOSTILE_SETTINGS = [
  "alter database main set default_transaction_read_only = on",
  "alter database main set statement_timeout = 1",
  "alter database main set local_preload_libraries = 'nothing'",
  "alter database main set search_path = public, pg_catalog",
];

/** An index whose function is found in the session of a customer, and not in that of a verification. */
const UNQUALIFIED = [
  "create function public.twice(id int) returns int immutable language sql return id * 2",
  "create function public.doubled(id int) returns int immutable language plpgsql as 'begin return twice(id); end'",
  "create index words_doubled on words (public.doubled(id))",
];

const attack = (name: string) =>
  `begin perform public.attack(${literal(name)}); exception when others then null; end;`;

/**
 * Statements of a customer that lay functions in the way of a verification, each of which tries to run a program.
 * @param folder gets a file for each program that has run.
 */
function hostileFunctions(folder: string): string[] {
  return [
    // The columns of the system tables are of the type `name`, for which Postgres has no function of its own.
    `create function public.attack(name text) returns void language plpgsql as $$
     begin execute format('copy (select 1) to program %L', ': > ${folder}/' || name); end $$`,
    `create function public.quote_ident(name) returns text language plpgsql as $$
     begin ${attack("quote_ident")} return pg_catalog.quote_ident($1::text); end $$`,
    "create schema pilvi_verification",
    `create function pilvi_verification.verify_heapam(regclass) returns table (msg text) language plpgsql as $$
     begin ${attack("verify_heapam")} end $$`,
    `create function public.shifted(id int) returns int immutable language plpgsql as $$
     begin ${attack("index")} return id + 1; end $$`,
    "create index words_shifted on words (public.shifted(id))",
  ];
}

describe.each(await enginesUnderTest())("Postgres %s", (_, installed) => {
  test("a sound copy passes, and changed bytes of a table and of an index are found", async () => {
    const cluster = await Cluster.start(installed);
    const db = cluster.client();
    await db.unsafe("create table words (id int primary key, word text)");
    for (const statement of UNQUALIFIED) await db.unsafe(statement);
    await db.unsafe("insert into words select id, md5(id::text) from generate_series(1, 20000) id");
    const [paths] = await db.unsafe<{ heap: string; index: string }[]>(
      "select pg_relation_filepath('words') as heap, pg_relation_filepath('words_pkey') as index",
    );
    const programs = newFolder();
    for (const statement of hostileFunctions(programs)) await db.unsafe(statement);
    await db.close();
    for (const statement of HOSTILE_SETTINGS) await cluster.sql(statement, OWN_DATABASE);
    const stored = await backUpHot(cluster);
    await cluster.stop();

    const sound = await Restore.unpack(installed, stored);
    await sound.recover(IMMEDIATE);
    const passed = await backup.verify(sound.context(IMMEDIATE), TIMEOUT_MS);
    expect(readdirSync(programs)).toEqual([]);
    expect(passed).toMatchObject({ isComplete: true, faults: [] });
    expect(passed.checked).toBeGreaterThan(200);

    for (const path of [paths?.heap, paths?.index]) {
      const damaged = await Restore.unpack(installed, stored);
      await damaged.recover(IMMEDIATE);
      const file = openSync(join(damaged.dataDir, path ?? ""), "r+");
      writeSync(file, Buffer.alloc(16, 0xff), 0, 16, 3 * 8_192 + 4_000);
      closeSync(file);
      const { faults } = await backup.verify(damaged.context(IMMEDIATE), TIMEOUT_MS);
      expect(faults.join("\n")).toContain(
        path === paths?.heap ? "main: public.words:" : "main: public.words_pkey:",
      );
    }
  });
});

test("a verification whose time is over says that it is not complete, and leaves no process", async () => {
  const [version] = await enginesUnderTest();
  if (version === undefined) throw new Error("no Postgres is installed");
  const cluster = await Cluster.start(version[1]);
  const stored = await backUpHot(cluster);
  await cluster.stop();
  const restore = await Restore.unpack(version[1], stored);
  await restore.recover(IMMEDIATE);
  expect(await backup.verify(restore.context(IMMEDIATE), 1)).toMatchObject({ isComplete: false, faults: [] });

  // The folder of the former server can be used again.
  const server = startPrivately(restore.context(IMMEDIATE), []);
  expect(await server.ready).toBe(true);
  expect(await asAdmin(server, OWN_DATABASE, async (db) => [...(await db`show search_path`)])).toEqual([
    { search_path: "pg_catalog, pg_temp" },
  ]);
  await server.stop();
});
