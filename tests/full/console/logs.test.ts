// The log of each kind and the keys of a cache in a real browser: followed, searched, opened and deleted, also
// while Pilvi is away, and by a viewer.
import { afterAll, beforeAll, expect, test } from "bun:test";
import Redis from "ioredis";
import { startChromium, type TestBrowser } from "../../support/clients/chromium.ts";
import { ConsolePage } from "../../support/console/console-page.ts";
import { makeOwner, openViewer } from "../../support/console/sign-in.ts";
import { connectPg, createCluster } from "../../support/pilvi/databases.ts";
import { startPilvi, until, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { Sleeper } from "../../support/pilvi/sleepers.ts";
import { createServer } from "../../support/pilvi/websockets.ts";

const START_MS = 240_000;

let pilvi: TestPilvi;
let chromium: TestBrowser;
let window: ConsolePage;
let cluster: Awaited<ReturnType<typeof createCluster>>;
let cache: Awaited<ReturnType<TestPilvi["createCache"]>>;
const faults: string[] = [];

beforeAll(async () => {
  [pilvi, chromium] = await Promise.all([startPilvi(), startChromium()]);
  [cluster, cache] = await Promise.all([createCluster(pilvi), pilvi.createCache({ uses_hibernation: true })]);
  await until("the console is built", async () => (await fetch(pilvi.url)).status === 200);
  window = await ConsolePage.open(chromium, pilvi.url);
  await makeOwner(window, pilvi);
}, START_MS);

afterAll(async () => {
  await chromium.close();
  await pilvi.close();
});

async function write(text: string): Promise<void> {
  const session = await connectPg(cluster);
  await session.query(`do $$ begin raise warning '${text}'; end $$`);
  await session.end();
}

test("the log of a cluster is opened from its page, and a line appears when it is written", async () => {
  const { page } = window;
  await window.goto(`/databases/${cluster.id}`);
  await page.getByRole("link", { name: "Logs" }).click();
  await page.getByText("ready to accept connections").first().waitFor();
  await page.getByText(/^Live, \d+ lines$/).waitFor();
  await write("first needle");
  await page.getByText("first needle").waitFor();
  faults.push(...(await window.faultsInAllLooks("logs")));
});

test("a paused log holds new lines back until it goes on", async () => {
  const { page } = window;
  await page.getByRole("button", { name: "Pause" }).click();
  await write("while paused");
  await page.getByText(/^Paused, \d+ new lines?$/).waitFor();
  expect(await page.getByText("while paused").count()).toBe(0);
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText("while paused").waitFor();
});

test("a search stands in the address, and an address without a result says so", async () => {
  const { page } = window;
  await page.getByLabel("Search in the log").fill("NEEDLE");
  await page.keyboard.press("Enter");
  await page.getByText(/^Live, 1 line$/).waitFor();
  expect(new URL(page.url()).searchParams.get("q")).toBe("NEEDLE");
  await window.goto(`/databases/${cluster.id}/logs?q=no-such-text`);
  await page.getByText("No line has this text").waitFor();
  faults.push(...(await window.faultsInAllLooks("logs-empty")));
});

test("a log that is searched while Pilvi is away says so, and goes on when Pilvi is back", async () => {
  const { page } = window;
  await window.goto(`/databases/${cluster.id}/logs?q=needle`);
  await page.getByText(/^Live, 1 line$/).waitFor();
  await pilvi.stop();
  await page.getByLabel("Search in the log").fill("needle away");
  await page.keyboard.press("Enter");
  await page.getByText("Offline, trying again").waitFor();
  faults.push(...(await window.faultsInAllLooks("logs-offline")));
  await pilvi.start();
  await page.getByText("No line has this text").waitFor();
  await write("a needle away from home");
  await page.getByText("a needle away from home").waitFor();
});

test("a viewer is not led to the log, and learns which ability it takes", async () => {
  const viewer = await openViewer(chromium, pilvi);
  await viewer.goto(`/databases/${cluster.id}`);
  await viewer.page.getByText("Your role does not show credentials.").waitFor();
  expect(await viewer.page.getByRole("link", { name: "Logs" }).count()).toBe(0);
  await viewer.goto(`/databases/${cluster.id}/logs`);
  await viewer.page.getByRole("alert").getByText("databases:credentials").waitFor();
  faults.push(...(await viewer.faultsInAllLooks("logs-viewer")));
  await viewer.close();
});

test("a sleeping cache shows its log and asks before its keys wake it", async () => {
  const { page } = window;
  const sleeper = new Sleeper(pilvi, cache);
  await sleeper.sleep();
  await sleeper.sleepsThrough(async () => {
    await window.goto(`/caches/${cache.id}/logs`);
    await page.getByText("Its log can be read all the same").waitFor();
    await page
      .getByText(/ starts$/)
      .first()
      .waitFor();
    await page.getByRole("link", { name: "Keys" }).click();
    await page.getByText("The cache sleeps").waitFor();
    faults.push(...(await window.faultsInAllLooks("keys-asleep")));
  });
  await page.getByRole("button", { name: "Wake it and show its keys" }).click();
  await page.getByText("No keys yet").waitFor();
});

test("keys are found by pattern, opened by keyboard, and deleted after a question", async () => {
  const { page } = window;
  const { hostname, port, username = "", password = "" } = cache.attributes.connection;
  const redis = new Redis({ host: hostname, port: port ?? 0, username, password });
  await redis.mset("session:1", "one", "session:2", "two", "other", "x");
  await redis.hset("profile", { name: "Ada", city: "Turku" });
  await redis.expire("session:1", 3600);
  await page.getByLabel("Pattern of names").fill("session:*");
  await page.keyboard.press("Enter");
  await page.getByText("2 keys", { exact: true }).waitFor();
  await page.getByRole("button", { name: /^session:1/ }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Text of the value" }).getByText("one").waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("1 key", { exact: true }).waitFor();
  expect(await redis.exists("session:1")).toBe(0);
  await window.goto(`/caches/${cache.id}/keys?key=profile`);
  await page.getByText("Turku").waitFor();
  faults.push(...(await window.faultsInAllLooks("keys")));
  redis.disconnect();
});

test("the log of a WebSocket cluster is shown", async () => {
  const { id } = await createServer(pilvi);
  await window.goto(`/websockets/${id}/logs`);
  await window.page.getByText("realtime server is ready").first().waitFor();
});

test("axe-core finds no fault in any page, theme and width", () => {
  expect(faults).toEqual([]);
});

test("no page asks another host or writes an error", () => {
  expect(window.foreign).toEqual([]);
  expect(window.errors.filter((error) => !error.startsWith("Failed to load resource"))).toEqual([]);
});
