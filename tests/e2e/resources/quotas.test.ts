// Quotas of a whole Pilvi: set by its operator, set for a token, and storage as the host measures it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { OrganizationDocument } from "../../../src/sdk/index.ts";
import { cacheBody, startPilvi, until, type TestPilvi } from "../../support/pilvi/pilvi.ts";

let pilvi: TestPilvi;
beforeAll(async () => {
  pilvi = await startPilvi({ env: { PILVI_QUOTA_CACHES: "2", PILVI_QUOTA_MEMORY: "1.5gb" } });
});
afterAll(() => pilvi.close());

const create = (attributes: object, token?: string) =>
  pilvi.api<{ errors?: Record<string, string[]> }>(
    "POST",
    "/caches",
    cacheBody({ ...attributes }),
    token === undefined ? {} : { authorization: `Bearer ${token}` },
  );
const organization = async () =>
  (await pilvi.api<OrganizationDocument>("GET", "/meta/organization")).body.data.meta;

test("the operator's limit and a token's limit hold, and a deleted cache makes room", async () => {
  const made = await pilvi.run(
    "token",
    "create",
    "--name",
    "small",
    "--max-resources",
    "1",
    "--max-memory",
    "300mb",
  );
  const token = made.stdout.trim();
  expect((await create({ size: "valkey-flex-1gb" }, token)).body.errors).toHaveProperty("size");
  expect((await create({}, token)).status).toBe(201);
  expect((await create({}, token)).body.errors?.type?.[0]).toContain("--max-resources");
  const { id } = await pilvi.createCache();
  expect((await create({})).body.errors?.type?.[0]).toContain("may have 2 caches and has 2.");
  await pilvi.deleteCache(id);
  expect((await create({ size: "valkey-flex-2.5gb" })).body.errors).toHaveProperty("size");
  expect((await create({})).status).toBe(201);
  const shown = await pilvi.run("organization");
  expect(shown.stdout).toMatch(/^caches +2 +2$/m);
  const listed = JSON.parse((await pilvi.run("token", "list", "--json")).stdout.split("\n")[0] ?? "") as {
    name: string;
    max_resources: number;
    max_memory_bytes: number;
  }[];
  expect(listed.find(({ name }) => name === "small")).toMatchObject({
    max_resources: 1,
    max_memory_bytes: 300 * 1024 ** 2,
  });
});

test("storage is measured by the host", async () => {
  await until("something was measured", async () => (await organization()).quotas.storage_bytes.used > 0);
});

test("an invalid limit is refused by the command line", async () => {
  for (const [option, value] of [
    ["--max-resources", "0"],
    ["--max-memory", "much"],
  ] as const) {
    expect((await pilvi.run("token", "create", "--name", "odd", option, value)).code).toBe(2);
  }
});
