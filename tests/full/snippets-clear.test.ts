// The snippets of a WebSocket application of a Pilvi without a certificate: copied from the page, and run with the real
// clients in the clear, in Chromium as well.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { snippetClients } from "../support/clients/snippet-clients.ts";
import { ConsolePage } from "../support/console/console-page.ts";
import { makeOwner } from "../support/console/sign-in.ts";
import { copiedFrom, openCustomerPage } from "../support/console/snippet-pages.ts";
import { SnippetRunner } from "../support/console/snippet-runner.ts";
import { startConsole, type TestConsole } from "../support/console/start.ts";
import { freshDataDir, until } from "../support/pilvi/pilvi.ts";
import { createServer } from "../support/pilvi/websockets.ts";

const START_MS = 600_000;
const BROWSERS = ["pusher-js", "Laravel Echo"];

let served: TestConsole;
let runner: SnippetRunner;
let texts: Map<string, string>;

beforeAll(async () => {
  const folder = freshDataDir();
  const clients = await snippetClients();
  mkdirSync(join(folder, "snippets"));
  // Nothing is trusted, since nothing speaks TLS.
  runner = new SnippetRunner({ clients, folder, trusted: "/dev/null", programs: [], env: {} });
  served = await startConsole();
  const permissions = ["clipboard-read", "clipboard-write"];
  const window = await ConsolePage.open(served.chromium, served.pilvi.url, { permissions });
  await makeOwner(window, served.pilvi);
  const { id } = await createServer(served.pilvi);
  texts = await copiedFrom(window, `/websockets/${id}`);
}, START_MS);

afterAll(async () => {
  await served.close();
  await runner.close();
});

test.each(BROWSERS)("%s gets the events of every server by ws", async (browser) => {
  const servers: Record<string, (text: string) => Promise<string>> = {
    "Laravel .env": (text) => runner.laravelBroadcast(text),
    "Node server": (text) => runner.node(text),
    "Python server": (text) => runner.python(text),
    "PHP server": (text) => runner.php(text),
  };
  expect([...texts.keys()]).toEqual([...BROWSERS, ...Object.keys(servers)]);
  const page = await openCustomerPage(served.chromium, await runner.bundle(texts.get(browser) ?? ""));
  for (const [server, run] of Object.entries(servers)) {
    const before = page.received();
    await until(`${browser} gets the event of ${server}`, async () => {
      await run(texts.get(server) ?? "");
      return page.received() > before;
    });
  }
  expect(page.sockets[0]).toStartWith("ws://");
  await page.close();
});
