// Verifications of restored copies: sound copies pass, and damage in a table or an index is found.
import { afterAll, describe, expect, test } from "bun:test";
import { openSync, closeSync, writeSync } from "node:fs";
import { join } from "node:path";
import { asAdmin, OWN_DATABASE } from "../admin.ts";
import { backup } from "./index.ts";
import { startPrivately } from "./private-server.ts";
import {
  backUpHot,
  cleanUp,
  Cluster,
  enginesUnderTest,
} from "../../../../tests/support/engines/postgres-cluster.ts";
import { Restore } from "../../../../tests/support/engines/postgres-restore.ts";

afterAll(cleanUp);

const TIMEOUT_MS = 120_000;
const IMMEDIATE = { kind: "immediate" } as const;

/** Settings of a customer that must not keep a verification out. */
const HOSTILE = [
  "alter database main set default_transaction_read_only = on",
  "alter database main set statement_timeout = 1",
  "alter database main set local_preload_libraries = 'nothing'",
];

describe.each(await enginesUnderTest())("Postgres %s", (_, installed) => {
  test("a sound copy passes, and changed bytes of a table and of an index are found", async () => {
    const cluster = await Cluster.start(installed);
    const db = cluster.client();
    await db.unsafe("create table words (id int primary key, word text)");
    await db.unsafe("insert into words select id, md5(id::text) from generate_series(1, 20000) id");
    const [paths] = await db.unsafe<{ heap: string; index: string }[]>(
      "select pg_relation_filepath('words') as heap, pg_relation_filepath('words_pkey') as index",
    );
    await db.close();
    for (const statement of HOSTILE) await cluster.sql(statement, OWN_DATABASE);
    const stored = await backUpHot(cluster);
    await cluster.stop();

    const sound = await Restore.unpack(installed, stored);
    await sound.recover(IMMEDIATE);
    const passed = await backup.verify(sound.context(IMMEDIATE), TIMEOUT_MS);
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
  expect(await asAdmin(server, OWN_DATABASE, async (db) => [...(await db`select 1 as one`)])).toEqual([
    { one: 1 },
  ]);
  await server.stop();
});
