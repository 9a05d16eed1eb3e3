// A list of 10,000 caches in a real browser: all of them are read, few are drawn, and search and filters find the rest.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { insertCacheRows } from "../support/cache-rows.ts";
import { startChromium, type TestBrowser } from "../support/clients/chromium.ts";
import { ConsolePage } from "../support/console/console-page.ts";
import { makeOwner } from "../support/console/sign-in.ts";
import { freshDatabase } from "../support/engines/postgres.ts";
import { forward } from "../support/pilvi/forwarder.ts";
import { startPilvi, type TestPilvi, until } from "../support/pilvi/pilvi.ts";
import type { Database } from "../../src/store/database.ts";

const START_MS = 240_000;
const COUNT = 10_000;
/** Names of eight digits each, so that a search for one finds no other. */
const FIRST = 10_000_001;
/** More rows than a window shows, with those that are drawn before they are seen. */
const MOST_DRAWN = 80;

let db: Database;
let forwarder: ReturnType<typeof forward>;
let pilvi: TestPilvi;
let chromium: TestBrowser;
let window: ConsolePage;

beforeAll(async () => {
  db = await freshDatabase();
  const { path, database } = db.options as { path: string; database: string };
  forwarder = forward(path);
  const url = `postgres://pilvi@127.0.0.1:${forwarder.port}/${database}`;
  [pilvi, chromium] = await Promise.all([startPilvi({ env: { PILVI_DATABASE_URL: url } }), startChromium()]);
  await until("the console is built", async () => (await fetch(pilvi.url)).status === 200);
  window = await ConsolePage.open(chromium, pilvi.url);
  await makeOwner(window, pilvi);
  // The rows have no real credentials, which a viewer does not see.
  await db`update members set role = 'viewer'`;
  const [place] = await db<{ organizationId: string; hostId: string }[]>`
    select o.id as "organizationId", h.id as "hostId" from organizations o, hosts h`;
  if (place === undefined) throw new Error("there is no host");
  await insertCacheRows(db, FIRST, COUNT, place);
}, START_MS);

afterAll(async () => {
  await chromium.close();
  await pilvi.close();
  await db.close();
  forwarder.close();
});

const rows = () => window.page.getByRole("list", { name: "Caches" }).getByRole("listitem");

async function counts(text: string): Promise<void> {
  await window.page.getByText(text, { exact: true }).waitFor();
}

test("a list of 10,000 caches draws the rows in the window alone, wherever it is scrolled", async () => {
  await window.goto("/caches");
  await counts("10000 in all");
  await window.page.getByRole("link", { name: new RegExp(`^${FIRST + COUNT - 1}`) }).waitFor();
  expect(await rows().count()).toBeLessThan(MOST_DRAWN);
  await window.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
  await window.page.getByRole("link", { name: new RegExp(`^${FIRST}`) }).waitFor();
  expect(await rows().count()).toBeLessThan(MOST_DRAWN);
  expect(await rows().last().getAttribute("aria-posinset")).toBe(String(COUNT));
  await window.page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)");
  await window.page.getByRole("link", { name: new RegExp(`^${FIRST + COUNT / 2}`) }).waitFor();
  expect(await rows().count()).toBeLessThan(MOST_DRAWN);
});

test("search and filters find what no row shows", async () => {
  await window.page.evaluate("scrollTo(0, 0)");
  await window.page.getByLabel("Search by name or id").fill("10004711");
  await counts("1 of 10000");
  expect(await rows().count()).toBe(1);
  await window.page.getByLabel("Search by name or id").fill("");
  await counts("10000 in all");
  await window.goto("/caches?region=us-east-1&type=hosted_redis");
  const names = Array.from({ length: COUNT }, (_, index) => FIRST + index);
  const expected = names.filter((name) => name % 3 === 0 && name % 5 === 0).length;
  await counts(`${expected} of 10000`);
  expect(await rows().count()).toBeLessThan(MOST_DRAWN);
});
