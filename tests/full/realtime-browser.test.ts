// Pages in a real Chromium that use the official client: from an allowed origin, and from another origin.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { resolve } from "node:path";
import type { Page } from "playwright-core";
import { startChromium, type TestBrowser } from "../support/clients/chromium.ts";
import { until } from "../support/pilvi/pilvi.ts";
import { authorize } from "../support/clients/pusher-clients.ts";
import { APP, startRealtime, type TestRealtime } from "../support/engines/realtime.ts";

const LIBRARY = resolve(
  import.meta.dir,
  "../../node_modules/pusher-js/dist/web/pusher-with-encryption.min.js",
);
const MASTER_KEY = Buffer.alloc(32, 3).toString("base64");
const FETCH_TIMEOUT_MS = 240_000;

let realtime: TestRealtime;
let chromium: TestBrowser;
let allowed: Bun.Server<undefined>;
let other: Bun.Server<undefined>;

beforeAll(async () => {
  realtime = await startRealtime();
  allowed = website();
  other = website();
  await realtime.configure({ allowedOrigins: [allowed.url.origin] });
  chromium = await startChromium();
}, FETCH_TIMEOUT_MS);

afterAll(async () => {
  await chromium.close();
  await Promise.all([allowed.stop(true), other.stop(true)]);
  await realtime.close();
});

/** A website whose page connects, and records the events it receives. */
function website(): Bun.Server<undefined> {
  const script = `
    const received = [];
    const user = new URLSearchParams(location.search).get("user");
    const pusher = new Pusher("${APP.key}", {
      cluster: "", wsHost: "127.0.0.1", wsPort: ${realtime.port}, forceTLS: false, enabledTransports: ["ws"],
      channelAuthorization: { endpoint: "/auth", transport: "ajax", params: { user: JSON.stringify({ id: user }) } },
    });
    pusher.connection.bind("error", (fault) => received.push(["error", (fault.error ?? fault).data.code]));
    const subscribe = (name) => {
      const channel = pusher.subscribe(name);
      channel.bind_global((event, data) => received.push([name, event, event.startsWith("pusher:subs") ? null : data]));
    };
    for (const name of ["private-room", "presence-room", "private-encrypted-room"]) subscribe(name);`;
  const page = `<!doctype html><title>test</title><script src="/pusher.js"></script><script>${script}</script>`;
  const pusher = realtime.pusher({ encryptionMasterKeyBase64: MASTER_KEY });
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    routes: {
      "/": () => new Response(page, { headers: { "content-type": "text/html" } }),
      "/pusher.js": () => new Response(Bun.file(LIBRARY)),
      "/auth": { POST: async (request) => authorize(pusher, request) },
    },
    fetch: () => new Response("", { status: 404 }),
  });
}

async function open(site: Bun.Server<undefined>, user: string): Promise<Page> {
  const page = await chromium.browser.newPage();
  await page.goto(`${site.url.href}?user=${user}`);
  return page;
}

/** The events that the page has received so far. */
async function receivedBy(page: Page): Promise<unknown[][]> {
  return (await page.evaluate("received")) as unknown[][];
}

async function receives(page: Page, expected: unknown[]): Promise<void> {
  const isReceived = async () => (await receivedBy(page)).some((each) => Bun.deepEquals(each, expected));
  await until(`the page receives ${JSON.stringify(expected)}`, isReceived);
}

const CHANNELS = ["private-room", "presence-room", "private-encrypted-room"];

test("pages of an allowed origin subscribe, receive events and whisper", async () => {
  const [ann, bob] = [await open(allowed, "ann"), await open(allowed, "bob")];
  for (const page of [ann, bob])
    for (const channel of CHANNELS) await receives(page, [channel, "pusher:subscription_succeeded", null]);
  await receives(ann, ["presence-room", "pusher:member_added", { id: "bob", info: {} }]);

  const pusher = realtime.pusher({ encryptionMasterKeyBase64: MASTER_KEY });
  for (const channel of CHANNELS) await pusher.trigger(channel, "news", { text: `for ${channel} ü😀` });
  for (const page of [ann, bob])
    for (const channel of CHANNELS) await receives(page, [channel, "news", { text: `for ${channel} ü😀` }]);

  await bob.evaluate(`pusher.channel("presence-room").trigger("client-typing", { who: "bob" })`);
  await receives(ann, ["presence-room", "client-typing", { who: "bob" }]);
  await bob.close();
  await receives(ann, ["presence-room", "pusher:member_removed", { id: "bob", info: {} }]);
  expect((await realtime.stats()).connections).toBe(1);
  await ann.close();
});

test("a page of another origin is refused with 4009, and an open page when its origin is no longer allowed", async () => {
  const refused = await open(other, "eve");
  await receives(refused, ["error", 4009]);
  expect(await refused.evaluate("pusher.connection.state")).toBe("disconnected");

  const page = await open(allowed, "ann");
  await receives(page, ["private-room", "pusher:subscription_succeeded", null]);
  await realtime.configure({ allowedOrigins: ["https://example.com"] });
  await receives(page, ["error", 4009]);
  await until(
    "it stays away",
    async () => (await page.evaluate("pusher.connection.state")) === "disconnected",
  );
  expect((await realtime.stats()).connections).toBe(0);
});
