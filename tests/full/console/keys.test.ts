// The keys of caches of every engine in a real browser, of a public cache with TLS, and of a cache with many keys.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Redis from "ioredis";
import type { CacheResource } from "../../../src/resources/caches/schema.ts";
import { startChromium, type TestBrowser } from "../../support/clients/chromium.ts";
import { ConsolePage } from "../../support/console/console-page.ts";
import { makeOwner } from "../../support/console/sign-in.ts";
import { CONSOLE_START_MS } from "../../support/console/start.ts";
import { startPilvi, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";
import { CertificateFolder } from "../../support/wire/tls-sessions.ts";

const folder = new CertificateFolder();
let pilvi: TestPilvi;
let chromium: TestBrowser;
let window: ConsolePage;
const faults: string[] = [];

beforeAll(async () => {
  await folder.newPair("own");
  const env = { PILVI_TLS_CERT: folder.file("own.crt"), PILVI_TLS_KEY: folder.file("own.key") };
  [pilvi, chromium] = await Promise.all([startPilvi({ env }), startChromium()]);
  const tls = { ca: folder.read("own.crt") };
  await until("the console is built", async () => (await fetch(pilvi.url, { tls })).status === 200);
  window = await ConsolePage.open(chromium, pilvi.url, { ignoreHTTPSErrors: true });
  await makeOwner(window, pilvi);
}, CONSOLE_START_MS);

afterAll(async () => {
  await chromium.close();
  await pilvi.close();
  folder.remove();
});

function clientOf({ attributes: { connection, is_public: isPublic } }: CacheResource): Redis {
  const { hostname: host, port, username = "", password = "" } = connection;
  const tls = isPublic ? { tls: { ca: folder.read("own.crt") } } : {};
  return new Redis({ host, port, username, password, ...tls });
}

const row = (name: RegExp) => window.page.getByRole("button", { name });

describe.each([
  { kind: "a Redis", attributes: { type: "hosted_redis", size: "250mb" } },
  { kind: "a public Redis", attributes: { type: "hosted_redis", size: "250mb", is_public: true } },
  { kind: "a public Valkey", attributes: { is_public: true } },
])("$kind", ({ attributes }) => {
  test("shows its keys and their values, and loses the key that is deleted", async () => {
    const cache = await pilvi.createCache(attributes);
    const client = clientOf(cache);
    await client.set("greeting", "moi", "EX", 3_600);
    await client.hset("profile", { name: "Ada", city: "Turku" });
    await client.xadd("stream", "1-1", "field", "value");
    const { page } = window;
    await window.goto(`/caches/${cache.id}/keys`);
    await page.getByText("3 keys", { exact: true }).waitFor();
    await page.getByLabel("Type of keys").selectOption("hash");
    await page.getByText("1 key", { exact: true }).waitFor();
    await row(/^profile/).click();
    await page.getByText("Turku").waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No key is like that").waitFor();
    expect(await client.exists("profile")).toBe(0);
    client.disconnect();
  });
});

test("of many keys those in the window are drawn, and the last can be reached and opened", async () => {
  const cache = await pilvi.createCache();
  const client = clientOf(cache);
  const names = Array.from({ length: 600 }, (_, index) => `key:${index}`);
  await client.mset(names.flatMap((name) => [name, `value of ${name}`]));
  client.disconnect();
  const { page } = window;
  await window.goto(`/caches/${cache.id}/keys`);
  const more = page.getByRole("button", { name: "More keys" });
  const end = page.getByText("600 keys", { exact: true });
  await until("all keys are read", async () => {
    if ((await end.count()) > 0) return true;
    if ((await more.count()) > 0) await more.click({ timeout: 1_000 }).catch(() => undefined);
    return false;
  });
  const rows = page.getByRole("region", { name: "Keys" }).getByRole("listitem");
  expect(await rows.count()).toBeLessThan(80);
  await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
  await until("the last row is drawn", async () => {
    return (await rows.last().getAttribute("aria-posinset")) === String(names.length);
  });
  expect(await rows.count()).toBeLessThan(80);
  const name = await rows.last().getByRole("button").locator("span").first().textContent();
  await rows.last().getByRole("button").click();
  await page.getByText(`value of ${name}`).waitFor();
  faults.push(...(await window.faultsInAllLooks("keys-many")));
});

test("axe-core finds no fault in any look of the page", () => {
  expect(faults).toEqual([]);
});

test("the page asks no other host, and breaks no rule of its policy", () => {
  expect(window.foreign).toEqual([]);
  expect(window.errors.filter((error) => !error.startsWith("Failed to load resource"))).toEqual([]);
});
