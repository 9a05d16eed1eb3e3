// The files of this Pilvi's identity, also after a power cut that has left them empty.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freshDatabase } from "../../../tests/support/engines/postgres.ts";
import type { Config } from "../../config.ts";
import { Refusal } from "../../lib/errors.ts";
import type { Database } from "../../store/database.ts";
import { firstToken, hostId } from "./identity.ts";
import { ensureHostRow } from "./registration.ts";

let db: Database;
beforeAll(async () => {
  db = await freshDatabase();
});
afterAll(() => db.close());
beforeEach(async () => void (await db`delete from hosts`));

const folder = mkdtempSync(join(tmpdir(), "pilvi-identity-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A data directory of its own, with a file. */
function dataDir(file?: { name: string; content: string }): Config {
  const path = mkdtempSync(join(folder, "data-"));
  if (file !== undefined) writeFileSync(join(path, file.name), file.content);
  return { dataDir: path } as Config;
}

const hostIds = async () =>
  (await db<{ id: string }[]>`select id from hosts order by id`).map(({ id }) => id);

test("the id of a host is made once", async () => {
  const config = dataDir();
  const id = await hostId(config);
  expect(readFileSync(join(config.dataDir, "host-id"), "utf8")).toBe(`${id}\n`);
  expect(await hostId(config)).toBe(id);
  expect(await ensureHostRow(db, id)).toBe(id ?? "");
  expect(await hostIds()).toEqual([id ?? ""]);
});

test("a host whose file is empty is the host that the store knows", async () => {
  await ensureHostRow(db, "host-1");
  const id = await hostId(dataDir({ name: "host-id", content: "" }));
  expect(await ensureHostRow(db, id)).toBe("host-1");
  expect(await hostIds()).toEqual(["host-1"]);
});

test("a host whose file is empty is known from then on to a store that knew none", async () => {
  const config = dataDir({ name: "host-id", content: "\n" });
  const id = await ensureHostRow(db, await hostId(config));
  expect(id).toStartWith("host-");
  expect(await ensureHostRow(db, await hostId(config))).toBe(id);
  expect(await hostIds()).toEqual([id]);
});

test("a host whose file is empty is refused where the store knows several", async () => {
  for (const id of ["host-1", "host-2"]) await ensureHostRow(db, id);
  const found = ensureHostRow(db, await hostId(dataDir({ name: "host-id", content: "" })));
  expect(await found.catch((error: unknown) => error)).toBeInstanceOf(Refusal);
  expect(await hostIds()).toEqual(["host-1", "host-2"]);
});

test("an empty file holds no token", async () => {
  const config = dataDir({ name: "token", content: "" });
  const token = await firstToken(config);
  expect(token).not.toBe("");
  expect(await firstToken(config)).toBe(token);
});
