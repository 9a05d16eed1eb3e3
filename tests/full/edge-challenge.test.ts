// The challenge of the edge in a real Chromium: the browser works, and then has the page.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startChromium, type TestBrowser } from "../support/clients/chromium.ts";
import { LoneEdge } from "../support/engines/lone-edge.ts";

const NAME = "busy.localhost";

let lone: LoneEdge;
let chromium: TestBrowser;

beforeAll(async () => {
  lone = await LoneEdge.start();
  chromium = await startChromium();
});

afterAll(async () => {
  await chromium.close();
  await lone.close();
});

test("a browser with too many requests solves the challenge, and goes on", async () => {
  lone.serve("app", () => new Response("<h1>Shop</h1>", { headers: { "content-type": "text/html" } }));
  const rateLimit = { level: "challenge", requestsPerMinute: 100 } as const;
  await lone.route("busy", [NAME], "app", 30, { rateLimit });
  for (let request = 0; request < 101; request += 1) await (await lone.get(NAME)).arrayBuffer();
  expect((await lone.get(NAME)).status).toBe(403);
  const page = await chromium.browser.newPage();
  const first = await page.goto(`http://${NAME}:${lone.port}/`);
  expect(first?.status()).toBe(403);
  await page.getByRole("heading", { name: "Shop" }).waitFor();
  expect((await page.reload())?.status()).toBe(200);
});
