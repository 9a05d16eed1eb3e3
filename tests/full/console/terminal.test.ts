// What the console gives to other programs: the credentials that it shows, and the commands beside its forms, which are
// copied from the page and run as they stand.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { resolve } from "node:path";
import type { Locator } from "playwright-core";
import { runProgram } from "../../support/clients/programs.ts";
import { ConsolePage } from "../../support/console/console-page.ts";
import { copiedText } from "../../support/console/forms.ts";
import { makeOwner } from "../../support/console/sign-in.ts";
import { CONSOLE_START_MS, startConsole, type TestConsole } from "../../support/console/start.ts";
import { createCluster } from "../../support/pilvi/databases.ts";
import { TOKEN, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { createServer } from "../../support/pilvi/websockets.ts";

const PILVI = resolve(import.meta.dir, "../../../scripts/pilvi.mjs");
const MASK = "••••••••";

let served: TestConsole;
let pilvi: TestPilvi;
let window: ConsolePage;
const ids = { cache: "", cluster: "", server: "" };

beforeAll(async () => {
  served = await startConsole();
  ({ pilvi } = served);
  const [cache, cluster, server] = await Promise.all([
    pilvi.createCache({ name: "sessions" }),
    createCluster(pilvi, { name: "orders" }),
    createServer(pilvi, { name: "chat" }),
  ]);
  Object.assign(ids, { cache: cache.id, cluster: cluster.id, server: server.id });
  window = await ConsolePage.open(served.chromium, pilvi.url, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await makeOwner(window, pilvi);
}, CONSOLE_START_MS);

afterAll(async () => await served.close());

interface Connected {
  connection: { hostname: string; port: number; username: string; password: string };
}

/** The section with the credentials of each kind, its page, and what the API says they are. */
const CREDENTIALS: [
  kind: string,
  path: () => string,
  title: string,
  rows: () => Promise<Record<string, string>>,
][] = [
  ["a cache", () => `/caches/${ids.cache}`, "Connect", () => rowsOf(`/caches/${ids.cache}`)],
  [
    "a database cluster",
    () => `/databases/${ids.cluster}`,
    "Connect",
    () => rowsOf(`/databases/clusters/${ids.cluster}`),
  ],
  [
    "a WebSocket application",
    () => `/websockets/${ids.server}`,
    "Application main",
    async () => {
      const path = `/websocket-servers/${ids.server}/applications`;
      const { body } = await pilvi.api<{ data: { attributes: Record<string, string> }[] }>("GET", path);
      const { app_id: appId = "", key = "", secret = "" } = body.data[0]?.attributes ?? {};
      return { "App id": appId, Key: key, Secret: secret };
    },
  ],
];

async function rowsOf(path: string): Promise<Record<string, string>> {
  const { body } = await pilvi.api<{ data: { attributes: Connected } }>("GET", path);
  const { hostname, port, username, password } = body.data.attributes.connection;
  return { Host: hostname, Port: String(port), User: username, Password: password };
}

test.each(CREDENTIALS)(
  "the page of %s shows exactly the credentials of the API once they are asked for",
  async (_kind, path, title, rows) => {
    const { page } = window;
    const expected = await rows();
    const secret = expected.Password ?? expected.Secret ?? "";
    expect(secret.length).toBeGreaterThan(10);
    await window.goto(path());
    const heading = page.getByRole("heading", { name: title, exact: true });
    const section = page.locator("section", { has: heading });
    await section.getByText(MASK).first().waitFor();
    expect(await section.innerText()).not.toContain(secret);
    await section.getByRole("button", { name: "Show the secrets" }).click();
    await section.getByRole("button", { name: "Hide the secrets" }).waitFor();
    expect(await section.getByText(MASK).count()).toBe(0);
    const { URL: url, ...shown } = await shownRows(section);
    expect(shown).toEqual(expected);
    if (url !== undefined) {
      const { hostname, port, username, password } = new URL(url);
      const parts = { Host: hostname, Port: port, User: username, Password: decodeURIComponent(password) };
      expect(parts).toMatchObject({ ...expected });
    }
    await section.getByRole("button", { name: "Hide the secrets" }).click();
    await section.getByText(MASK).first().waitFor();
    expect(await section.innerText()).not.toContain(secret);
  },
);

/** The values of the section by their labels. */
async function shownRows(section: Locator): Promise<Record<string, string>> {
  const [labels, values] = await Promise.all([
    section.locator("dl dt").allTextContents(),
    section.locator("dl dt + dd").allTextContents(),
  ]);
  return Object.fromEntries(labels.map((label, index) => [label, values[index] ?? ""]));
}

interface CreatePage {
  path: () => string;
  /** Gives more than the name, so that options of the command and members of the body are in what is run. */
  fill: () => Promise<unknown>;
  list: () => string;
  /** What the form asked for, as the API shows it. */
  made: object;
}

const CREATIONS: Record<string, CreatePage> = {
  cache: {
    path: () => "/caches/new",
    fill: async () => {
      await field("Eviction policy").selectOption("volatile-ttl");
      await field("Hibernation").check();
      await field("Hibernation timeout").fill("7");
    },
    list: () => "/caches",
    made: { eviction_policy: "volatile-ttl", uses_hibernation: true, hibernation_timeout: 7 },
  },
  "database cluster": {
    path: () => "/databases/new",
    fill: async () => await field("Suspend seconds").fill("700"),
    list: () => "/databases/clusters",
    made: { type: "hosted_serverless_postgres", config: expect.objectContaining({ suspend_seconds: 700 }) },
  },
  "WebSocket cluster": {
    path: () => "/websockets/new",
    fill: async () => await field("Max connections").selectOption("200"),
    list: () => "/websocket-servers",
    made: { max_connections: 200 },
  },
  database: {
    path: () => `/databases/${ids.cluster}/databases/new`,
    fill: async () => undefined,
    list: () => `/databases/clusters/${ids.cluster}/databases`,
    made: {},
  },
  application: {
    path: () => `/websockets/${ids.server}/applications/new`,
    fill: async () => {
      await field("Max message size").fill("2000");
      await field("Client events").uncheck();
      await field("Subscription count").check();
      await field("Allowed origins").fill("https://example.com\n*.example.org");
      for (const number of [1, 2]) {
        await window.page.getByRole("button", { name: "Add a webhook" }).click();
        await field(`Address of webhook ${number}`).fill(`https://example.com/it's-${number}`);
        await window.page
          .getByLabel("Only channels that begin with")
          .nth(number - 1)
          .fill("-presence");
      }
    },
    list: () => `/websocket-servers/${ids.server}/applications`,
    made: {
      max_message_size: 2000,
      client_events_enabled: false,
      subscription_count_enabled: true,
      allowed_origins: ["https://example.com", "*.example.org"],
      webhooks: [1, 2].map((number) =>
        expect.objectContaining({
          url: `https://example.com/it's-${number}`,
          filter: { channel_name_starts_with: "-presence" },
        }),
      ),
    },
  },
};

function field(label: string): Locator {
  return window.page.getByLabel(label, { exact: true });
}

test.each(Object.entries(CREATIONS))(
  "the command and the request beside the form of a new %s make what the form says",
  async (_noun, { path, fill, list, made }) => {
    await window.goto(path());
    await field("Name").fill("-by-command");
    await fill();
    await run(await copiedText(window.page, "command"));
    await field("Name").fill("by-request");
    await run(await copiedText(window.page, "request"));
    const { body } = await pilvi.api<{ data: { attributes: { name: string } }[] }>("GET", list());
    for (const name of ["-by-command", "by-request"]) {
      const found = body.data.find(({ attributes }) => attributes.name === name);
      expect(found?.attributes).toMatchObject(made);
    }
  },
);

/** Runs a text as a reader would who pastes it into a shell. */
async function run(text: string): Promise<void> {
  const env = { ...pilvi.env, PILVI_URL: pilvi.url, PILVI_TOKEN: TOKEN };
  await runProgram(["sh", "-ec", text.replace(/^pilvi /, `${PILVI} `)], env);
}

test("webhooks that differ are said by the request alone", async () => {
  const { page } = window;
  await window.goto(`/websockets/${ids.server}/applications/new`);
  for (const number of [1, 2]) {
    await page.getByRole("button", { name: "Add a webhook" }).click();
    await field(`Address of webhook ${number}`).fill(`https://example.com/${number}`);
  }
  await page.getByRole("button", { name: "Copy command" }).waitFor();
  await page.getByLabel("Several events in a request").last().check();
  await page.getByText("No command says all of this; the request does.").waitFor();
  expect(await page.getByRole("button", { name: "Copy command" }).count()).toBe(0);
  expect(JSON.parse((await copiedText(page, "request")).split("-d '")[1]?.slice(0, -1) ?? "")).toMatchObject({
    webhooks: [{ url: "https://example.com/1" }, { url: "https://example.com/2", batch_enabled: true }],
  });
});

test("no page asks another host or writes an error", () => {
  expect(window.foreign).toEqual([]);
  expect(window.errors).toEqual([]);
});
