// What happens in an application, and the wakes of a cache, as they happen in a real browser.
import { RedisClient } from "bun";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startChromium, type TestBrowser } from "../../support/clients/chromium.ts";
import { ConsolePage } from "../../support/console/console-page.ts";
import { makeOwner } from "../../support/console/sign-in.ts";
import { startPilvi, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";
import { createServer, publish, RawSocket, type TestServer } from "../../support/pilvi/websockets.ts";

const START_MS = 240_000;

let pilvi: TestPilvi;
let chromium: TestBrowser;
let window: ConsolePage;
let made: TestServer;
const faults: string[] = [];

beforeAll(async () => {
  [pilvi, chromium] = await Promise.all([startPilvi(), startChromium()]);
  await until("the console is built", async () => (await fetch(pilvi.url)).status === 200);
  window = await ConsolePage.open(chromium, pilvi.url);
  await makeOwner(window, pilvi);
  made = await createServer(pilvi);
}, START_MS);

afterAll(async () => {
  await chromium.close();
  await pilvi.close();
});

const lines = () => window.page.getByRole("region", { name: "What happened" }).getByRole("button");
const line = (text: string) => lines().filter({ hasText: text });

test("the page of an application shows clients and events as they happen", async () => {
  await window.goto(`/websockets/${made.id}`);
  await window.page.getByRole("link", { name: "Debug", exact: true }).click();
  await window.page.getByRole("heading", { name: "Debug main", level: 1 }).waitFor();
  await window.page.locator('[data-feed="running"]').waitFor();
  const socket = await new RawSocket(made.server, made.main).connected();
  await socket.subscribe("news");
  await line("Subscribed").filter({ hasText: "news" }).waitFor();
  await publish(made.server, made.main, { channel: "news", name: "said", data: '{"text":"moi"}' });
  await line("Published").click();
  await window.page.getByRole("heading", { name: "Published", level: 3 }).waitFor();
  await window.page.getByText('"text": "moi"').waitFor();
  faults.push(...(await window.faultsInAllLooks("debug")));
  socket.close();
  await line("Disconnected").waitFor();
});

test("a test event is published, and what the API refuses is said at the field", async () => {
  await window.page.getByLabel("Channel", { exact: true }).fill("two words");
  await window.page.getByRole("button", { name: "Publish", exact: true }).click();
  const field = window.page.getByLabel("Channel", { exact: true });
  await until("the fault is shown", async () => (await field.getAttribute("aria-invalid")) === "true");
  faults.push(...(await window.faultsInAllLooks("debug-refused")));
  const socket = await new RawSocket(made.server, made.main).connected();
  await socket.subscribe("weather");
  await field.fill("weather");
  await field.press("Enter");
  await window.page.getByText("Published greeting to 1 subscriber of weather.").waitFor();
  expect(await socket.next("greeting")).toBe('{"text": "hello"}');
  await line("Published").filter({ hasText: "weather" }).waitFor();
  socket.close();
});

test("lines are searched, filtered, cleared, and wait while the page is paused", async () => {
  await window.page.getByLabel("Show only").selectOption("Events");
  await until("only events are shown", async () => (await line("Connected").count()) === 0);
  await window.page.getByLabel("Search in the lines").fill("weather");
  await until("one channel is shown", async () => (await line("Published").count()) === 1);
  await window.page.getByLabel("Search in the lines").fill("");
  await window.page.getByLabel("Show only").selectOption("Everything");
  await window.page.getByRole("button", { name: "Pause" }).click();
  await window.page.getByRole("button", { name: "Clear" }).click();
  await window.page.getByText("Nothing has happened since").waitFor();
  await publish(made.server, made.main, { channel: "later", name: "said", data: "{}" });
  await window.page.getByRole("button", { name: "Go on (1 new)" }).click();
  await line("later").waitFor();
});

test("a flood keeps the page at a bounded number of lines, and says how many are missing", async () => {
  await window.page.getByRole("button", { name: "Clear" }).click();
  const event = { channel: "flood", name: "said", data: "{}" };
  // A busy machine may take longer for a burst than the page has room for it.
  await until("lines are missing", async () => {
    await Promise.all(Array.from({ length: 300 }, () => publish(made.server, made.main, event)));
    return (await line("more happened than are shown").count()) > 0;
  });
  // Only the visible rows are drawn.
  expect(await lines().count()).toBeLessThan(60);
});

test("the page goes on by itself when the server was restarted", async () => {
  const [pid = 0] = pilvi.enginePids(made.id);
  await window.page.getByRole("button", { name: "Clear" }).click();
  process.kill(pid, "SIGKILL");
  await line("running").waitFor();
  const socket = await new RawSocket(made.server, made.main).connected();
  await line("Connected").waitFor();
  socket.close();
});

test("the page of a cache lists its wakes with the client and the time that they took", async () => {
  const cache = await pilvi.createCache({ uses_hibernation: true });
  await window.goto(`/caches/${cache.id}`);
  await window.page.getByText("It has neither slept nor been woken yet.").waitFor();
  expect((await pilvi.api("POST", `/caches/${cache.id}/suspend`)).status).toBe(200);
  await window.page.getByText("Fell asleep", { exact: true }).waitFor();
  const { hostname, port, username = "", password = "" } = cache.attributes.connection;
  const client = new RedisClient(`redis://${username}:${password}@${hostname}:${port}`);
  await client.set("a", "1");
  await window.page.getByText(/^Woken by .* from 127\.0\.0\.1:\d+ in \d+ ms$/).waitFor();
  await window.page.getByText("Awake since then.").waitFor();
  client.close();
  expect((await pilvi.api("POST", `/caches/${cache.id}/suspend`)).status).toBe(200);
  await window.page.getByText(/^Stayed awake for .*, then fell asleep\.$/).waitFor();
  faults.push(...(await window.faultsInAllLooks("cache-wakes")));
});

test("axe-core finds no fault, and no page asks another host or writes an error", () => {
  expect(faults).toEqual([]);
  expect(window.foreign).toEqual([]);
  // A browser writes every answer 422 into its console.
  expect(window.errors.filter((error) => !error.startsWith("Failed to load resource"))).toEqual([]);
});
