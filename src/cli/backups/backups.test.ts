// The commands about backups: what they send and what they print.
import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { instantOf } from "../instant.ts";
import { bodies, closeServers, list, noContent, one, requests, serve } from "../test-server.ts";
import { fakeIo, runCommand } from "../test-support.ts";

afterEach(closeServers);

const id = "db-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f";
const snapshotId = "snapshot-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f";
const path = `/databases/clusters/${id}`;

function snapshot(status = "available", lastError: string | null = null) {
  return {
    id: snapshotId,
    type: "database_snapshots",
    attributes: {
      name: "before",
      description: null,
      type: "manual",
      status,
      storage_bytes: 4_718_592,
      pitr_enabled: false,
      pitr_ends_at: null,
      completed_at: "2026-03-15T08:18:53.204112Z",
      created_at: "2026-03-15T08:18:50.000000Z",
    },
    relationships: { database: { data: { id, type: "databases" } } },
    links: { self: { href: `/api/database-snapshots/${snapshotId}` } },
    meta: { last_error: lastError, source: { id, name: "orders", type: "hosted_serverless_postgres" } },
  };
}

function archive(attributes: object = {}) {
  return {
    id,
    type: "archives",
    attributes: {
      kind: "databases",
      name: "orders",
      deleted_at: null,
      snapshots: 2,
      window: { earliest: "2026-03-08T08:18:53.204112Z", latest: "2026-03-15T08:18:53.204112Z" },
      lag_seconds: 0.4,
      stored_bytes: 12_582_912,
      last_backup_at: new Date(Date.now() - 50 * 3_600_000).toISOString(),
      verified_at: new Date(Date.now() - 3 * 3_600_000).toISOString(),
      verified_restore_seconds: 4.21,
      last_error: null,
      ...attributes,
    },
  };
}

describe("snapshots", () => {
  test("create sends the name and the description", async () => {
    const url = serve({ [`POST ${path}/snapshots`]: one(snapshot("pending"), 201) });
    const io = fakeIo();
    await runCommand(
      io,
      url,
      "databases",
      "snapshots",
      "create",
      id,
      "before",
      "--description",
      "the old column",
    );
    expect(bodies).toEqual([{ name: "before", description: "the old column" }]);
    expect(io.stdout).toMatch(/^Status +pending$/m);
  });

  test("create --wait ends at once when the snapshot has failed, with the reason", async () => {
    const url = serve({
      [`POST ${path}/snapshots`]: one(snapshot("pending"), 201),
      [`GET /database-snapshots/${snapshotId}`]: one(snapshot("failed", "The disk is full.")),
    });
    const io = fakeIo();
    const running = runCommand(io, url, "databases", "snapshots", "create", id, "before", "--wait");
    expect(await running.catch((error: unknown) => String(error))).toContain(
      "The reason is: The disk is full.",
    );
  });

  test("list prints a line for each", async () => {
    const url = serve({ [`GET ${path}/snapshots`]: list(snapshot()) });
    const io = fakeIo();
    await runCommand(io, url, "databases", "snapshots", "list", id);
    expect(io.stdout).toContain(`before  manual  available  5 MiB  2026-03-15T08:18:53Z  ${snapshotId}`);
  });

  test("delete --yes deletes", async () => {
    const address = `/database-snapshots/${snapshotId}`;
    const url = serve({ [`GET ${address}`]: one(snapshot()), [`DELETE ${address}`]: noContent });
    await runCommand(fakeIo(), url, "databases", "snapshots", "delete", snapshotId, "--yes");
    expect(requests).toContain(`DELETE ${address}`);
  });
});

describe("pilvi backups", () => {
  test("prints window, lag, size, the last backup and its check in 80 columns, and marks what is deleted", async () => {
    const deleted = archive({
      name: "a-name-of-forty-characters-which-is-long",
      deleted_at: "2026-03-15T08:00:00Z",
      verified_at: null,
      verified_restore_seconds: null,
    });
    const io = fakeIo();
    const url = serve({
      "GET /backups": list(archive(), deleted),
      "GET /backups/store": () => Response.json({ data: archive().attributes }),
    });
    await runCommand(io, url, "backups");
    expect(io.stdout).toMatch(/^Pilvi's store +2026-03-08 08:18 +0 s +12 MiB +2 d ago +3 h ago +4\.2 s$/m);
    expect(io.stdout).toMatch(/^orders +2026-03-08 08:18 +0 s +12 MiB +2 d ago +3 h ago +4\.2 s$/m);
    expect(io.stdout).toMatch(/^a-name-of-for…\* .* - +-$/m);
    for (const line of io.stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });
});

describe("an instant", () => {
  const now = Date.parse("2026-03-15T08:00:00Z");
  test.each([
    ["10 minutes ago", "2026-03-15T07:50:00.000Z"],
    ["1 hour ago", "2026-03-15T07:00:00.000Z"],
    ["2 days ago", "2026-03-13T08:00:00.000Z"],
    ["2026-03-15T08:18:53.204112Z", "2026-03-15T08:18:53.204112Z"],
    ["2026-03-15T08:18+01:00", "2026-03-15T08:18:00+01:00"],
  ])("%s is %s", (text, instant) => {
    expect(instantOf(text, now)).toBe(instant);
  });

  test.each(["yesterday", "10 minutes", "2026-03-15", "2026-03-15T08:18:53", "2026-13-15T08:18:53Z"])(
    "%s is refused",
    (text) => {
      expect(() => instantOf(text, now)).toThrow("10 minutes ago");
    },
  );
});

describe("restore", () => {
  test("needs either an instant or a snapshot", async () => {
    const running = runCommand(fakeIo(), serve({}), "databases", "restore", id, "--name", "new");
    expect(await running.catch((error: unknown) => error)).toMatchObject({ exitCode: 2 });
  });
});

describe("what is kept of a deleted cluster", () => {
  const deletedId = "db-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e30";
  const kept = { ...archive({ deleted_at: "2026-03-15T08:18:53.204112Z" }), id: deletedId };
  const found = { "GET /backups": list(archive(), kept) };
  const deletedPath = `/databases/clusters/${deletedId}`;

  test("is purged by name, also when another cluster has the name", async () => {
    const url = serve({ ...found, [`DELETE ${deletedPath}/backups`]: noContent });
    const io = fakeIo();
    await runCommand(io, url, "databases", "purge", "orders", "--yes");
    expect(requests.at(-1)).toBe(`DELETE ${deletedPath}/backups`);
    expect(io.stdout).toBe(`Deleting the backups of orders (${deletedId}).\n`);
  });

  test("is not purged without a yes", async () => {
    const io = { ...fakeIo(), isInputTerminal: true };
    const running = runCommand(io, serve(found), "databases", "purge", "orders");
    expect(String(await running.catch((error: unknown) => error))).toContain("Nothing was deleted.");
    expect(requests).toEqual(["GET /backups"]);
  });

  test("is brought back, and not a cluster of the same name", async () => {
    const url = serve({
      ...found,
      [`GET ${deletedPath}`]: () => Response.json({ message: "There is none." }, { status: 404 }),
      [`GET ${deletedPath}/backups`]: () =>
        Response.json({ data: { window: { latest: "2026-03-15T08:18:53.204112Z" }, backups: [] } }),
      [`POST ${deletedPath}/restore`]: refused,
    });
    const io = fakeIo();
    await runCommand(io, url, "databases", "undelete", "orders").catch(() => undefined);
    expect(io.stderr).toContain("comes back without a schedule of backups");
    expect(bodies).toEqual([{ name: "orders", restore_time: "2026-03-15T08:18:53.204112Z" }]);
  });

  test("that does not exist is refused with the name that was given", async () => {
    const url = serve({ "GET /backups": list(archive()) });
    const fault = await runCommand(fakeIo(), url, "caches", "purge", "orders", "--yes").catch(String);
    expect(fault).toContain("There is no backup of a deleted cache named orders.");
  });
});

const refused = () => Response.json({ message: "It is refused.", errors: {} }, { status: 422 });

describe("clone", () => {
  test("sends the SQL of a file, and the database that it runs in", async () => {
    const folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-mask-"));
    const file = join(folder, "mask.sql");
    writeFileSync(file, "truncate sessions;\n");
    const url = serve({ [`GET ${path}`]: one(archive()), [`POST ${path}/clone`]: refused });
    const order = ["databases", "clone", id, "--name", "new", "--mask", file, "--database", "main"];
    await runCommand(fakeIo(), url, ...order).catch(() => undefined);
    rmSync(folder, { recursive: true });
    expect(bodies).toEqual([{ name: "new", mask: { sql: "truncate sessions;\n", database: "main" } }]);
  });

  test("refuses a file that is missing, and a database without a mask, before it asks for anything", async () => {
    for (const [options, sentence] of [
      [["--mask", "/nowhere/mask.sql"], "The file /nowhere/mask.sql cannot be read."],
      [["--database", "main"], "--database needs --mask"],
    ] as const) {
      const io = fakeIo();
      const running = runCommand(io, serve({}), "databases", "clone", id, "--name", "new", ...options);
      const fault = await running.catch((error: unknown) => String(error));
      expect(`${fault}${io.stderr}`).toContain(sentence);
    }
    expect(requests).toEqual([]);
  });
});
