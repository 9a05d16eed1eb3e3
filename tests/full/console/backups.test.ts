// The pages of backups in a real browser: snapshots, restores and clones of a cache.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Redis from "ioredis";
import type { CacheResource } from "../../../src/resources/caches/schema.ts";
import {
  button,
  heading,
  inDialog,
  openedId,
  snapshotLine,
  untilShown,
} from "../../support/console/backup-pages.ts";
import { ConsolePage } from "../../support/console/console-page.ts";
import { makeOwner, openViewer } from "../../support/console/sign-in.ts";
import { CONSOLE_START_MS, startConsole, type TestConsole } from "../../support/console/start.ts";
import type { CacheDocument, TestPilvi } from "../../support/pilvi/pilvi.ts";

let served: TestConsole;
let pilvi: TestPilvi;
let window: ConsolePage;
const faults: string[] = [];

beforeAll(async () => {
  served = await startConsole();
  ({ pilvi } = served);
  window = await ConsolePage.open(served.chromium, pilvi.url);
  await makeOwner(window, pilvi);
}, CONSOLE_START_MS);

afterAll(async () => await served.close());

/** The value of a key of a cache. */
async function valueOf({ attributes: { connection } }: CacheResource, key: string): Promise<string | null> {
  const { hostname: host, port, username = "", password = "" } = connection;
  const client = new Redis({ host, port, username, password });
  try {
    return await client.get(key);
  } finally {
    client.disconnect();
  }
}

async function setKey({ attributes: { connection } }: CacheResource, value: string): Promise<void> {
  const { hostname: host, port, username = "", password = "" } = connection;
  const client = new Redis({ host, port, username, password });
  await client.set("greeting", value);
  client.disconnect();
}

/** Overwrites the parts of all backups of an instance, as a broken disk would. */
function damageBackups(id: string): void {
  const folder = join(pilvi.dataDir, "backups", "archives", id, "backups");
  for (const backup of readdirSync(folder)) {
    const parts = join(folder, backup, "parts");
    for (const part of readdirSync(parts)) writeFileSync(join(parts, part), "nothing of the kind");
  }
}

let source: CacheResource;

test("a cache without backups says what a snapshot is, and gets one", async () => {
  source = await pilvi.createCache({ name: "sessions" });
  await setKey(source, "moi");
  const { page } = window;
  await window.goto(`/caches/${source.id}`);
  await page.getByRole("link", { name: "Backups" }).click();
  await page.getByText("There are no backups yet").waitFor();
  faults.push(...(await window.faultsInAllLooks("backups-empty")));
  await page.getByLabel("What it is for").fill("x");
  await page.getByLabel("Name of a new snapshot").fill("before-upgrade");
  await button(window, "Make a snapshot").click();
  await page.getByText(/description.*at least 3/).waitFor();
  await page.getByLabel("What it is for").fill("sessions of the old release");
  await button(window, "Make a snapshot").click();
  await snapshotLine(window, "before-upgrade").locator('[data-status="available"]').waitFor();
  await snapshotLine(window, "before-upgrade")
    .getByText(/manual · .*B · data of/)
    .waitFor();
  await page.getByText("Size of all backups").waitFor();
  faults.push(...(await window.faultsInAllLooks("backups-cache")));
});

test("a snapshot is restored to a new cache, whose page shows the restore until it has its keys", async () => {
  await setKey(source, "hei");
  await button(window, "Restore before-upgrade").click();
  await window.page.getByLabel("Name of the new cache").fill("Bad Name");
  await inDialog(window, "Restore").click();
  await window.page.getByText(/lowercase letters/).waitFor();
  await window.page.getByLabel("Name of the new cache").fill("sessions-before");
  faults.push(...(await window.faultsInAllLooks("backups-restore")));
  await inDialog(window, "Restore").click();
  const id = await openedId(window, "sessions-before");
  await untilShown(window, "available");
  const { body } = await pilvi.api<CacheDocument>("GET", `/caches/${id}`);
  expect(await valueOf(body.data, "greeting")).toBe("moi");
});

test("a cache is cloned as it is now", async () => {
  await window.goto(`/caches/${source.id}`);
  await button(window, "Clone").click();
  await inDialog(window, "Clone").click();
  const id = await openedId(window, "sessions-clone");
  await untilShown(window, "available");
  const { body } = await pilvi.api<CacheDocument>("GET", `/caches/${id}`);
  expect(await valueOf(body.data, "greeting")).toBe("hei");
});

test("a restore of a damaged snapshot says why it failed, and leads back to its source", async () => {
  damageBackups(source.id);
  await window.goto(`/caches/${source.id}/backups`);
  await button(window, "Restore before-upgrade").click();
  await window.page.getByLabel("Name of the new cache").fill("broken");
  await inDialog(window, "Restore").click();
  await heading(window, "broken");
  await untilShown(window, "restore_failed");
  await window.page.getByText("The restore failed, and this cache has no data.").waitFor();
  await window.page.getByRole("alert").first().waitFor();
  faults.push(...(await window.faultsInAllLooks("restore-failed")));
  await window.page.getByRole("link", { name: "sessions", exact: true }).click();
  await snapshotLine(window, "before-upgrade").waitFor();
});

test("a viewer sees the snapshots, and nothing to change them with", async () => {
  const viewer = await openViewer(served.chromium, pilvi);
  await viewer.goto(`/caches/${source.id}`);
  await viewer.page.getByRole("link", { name: "Backups" }).click();
  await snapshotLine(viewer, "before-upgrade").waitFor();
  for (const name of [/^Clone/, /^Restore/, /^Delete/, /^Make/]) {
    expect(await button(viewer, name).count()).toBe(0);
  }
  await viewer.close();
});

test("a snapshot is deleted after a question", async () => {
  await button(window, "Delete before-upgrade").click();
  await inDialog(window, "Delete").click();
  await snapshotLine(window, "before-upgrade").waitFor({ state: "hidden" });
});

test("axe-core finds no fault in any look of the pages", () => {
  expect(faults).toEqual([]);
});

test("the pages ask no other host, and break no rule of their policy", () => {
  expect(window.foreign).toEqual([]);
  expect(window.errors.filter((error) => !error.startsWith("Failed to load resource"))).toEqual([]);
});
