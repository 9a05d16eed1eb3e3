// Every snippet of the console, copied from the page with its button and run with the real client, with and without
// TLS.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadConfig } from "../../src/config.ts";
import { findEngines } from "../../src/engines/installed.ts";
import { makeCertificate } from "../support/clients/certificate.ts";
import { startChromium, type TestBrowser } from "../support/clients/chromium.ts";
import { enginePath } from "../support/clients/engine-programs.ts";
import { snippetClients } from "../support/clients/snippet-clients.ts";
import { ConsolePage } from "../support/console/console-page.ts";
import { copiedFrom, openCustomerPage } from "../support/console/snippet-pages.ts";
import { makeOwner } from "../support/console/sign-in.ts";
import { SnippetRunner } from "../support/console/snippet-runner.ts";
import { createCluster } from "../support/pilvi/databases.ts";
import { freshDataDir, startPilvi, until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { createServer } from "../support/pilvi/websockets.ts";

const START_MS = 600_000;

let folder: string;
let pilvi: TestPilvi;
let chromium: TestBrowser;
let window: ConsolePage;
let runner: SnippetRunner;

beforeAll(async () => {
  folder = freshDataDir();
  const { cert, key } = await makeCertificate(folder);
  const clients = await snippetClients();
  mkdirSync(join(folder, "snippets"));
  [pilvi, chromium] = await Promise.all([
    startPilvi({ env: { PILVI_TLS_CERT: cert, PILVI_TLS_KEY: key } }),
    startChromium(),
  ]);
  const cli = await valkeyCli();
  runner = new SnippetRunner({
    clients,
    folder,
    trusted: cert,
    programs: [dirname(cli.program)],
    env: cli.env,
  });
  const tls = { ca: readFileSync(cert, "utf8") };
  await until("the console is built", async () => (await fetch(pilvi.url, { tls })).status === 200);
  const permissions = ["clipboard-read", "clipboard-write"];
  window = await ConsolePage.open(chromium, pilvi.url, { permissions, ignoreHTTPSErrors: true });
  await makeOwner(window, pilvi);
}, START_MS);

afterAll(async () => {
  await chromium.close();
  await pilvi.close();
  await runner.close();
});

async function valkeyCli(): Promise<{ program: string; env: Record<string, string> }> {
  const engines = await findEngines(loadConfig(process.env).enginesDir);
  const valkey = engines.find(({ name }) => name === "valkey");
  if (valkey === undefined) throw new Error("valkey is not installed");
  return { program: enginePath(valkey, "valkey-cli"), env: valkey.env };
}

type Run = (text: string) => Promise<string>;

/** Runs all snippets of a page. @returns what each printed, by its name. */
async function runAll(path: string, runs: Record<string, Run>): Promise<Record<string, string>> {
  const texts = await copiedFrom(window, path);
  expect([...texts.keys()]).toEqual(Object.keys(runs));
  const printed: Record<string, string> = {};
  for (const [label, run] of Object.entries(runs)) {
    printed[label] = await run(texts.get(label) ?? "").catch((error: unknown) => String(error));
  }
  return printed;
}

/** The expected result: each snippet prints its greeting. */
function greetings(runs: Record<string, Run>): Record<string, string> {
  return Object.fromEntries(Object.keys(runs).map((label) => [label, "hello"]));
}

const node: Run = (text) => runner.node(text);
const python: Run = (text) => runner.python(text);
const php: Run = (text) => runner.php(text);

describe.each([
  { kind: "a private Postgres", attributes: { type: "hosted_serverless_postgres" } },
  {
    kind: "a public Postgres",
    attributes: { type: "provider_managed_postgres", config: { is_public: true } },
  },
])("$kind", ({ attributes }) => {
  const runs: Record<string, Run> = {
    URL: (text) => runner.shell(`psql '${text}'`, `-Atc "select 'hello'"`),
    psql: (text) => runner.shell(text, `-Atc "select 'hello'"`),
    Laravel: (text) => runner.laravelDatabase(text),
    Node: node,
    Drizzle: node,
    Prisma: (text) => runner.prisma(text, "pg"),
    Python: python,
    PHP: php,
  };

  test("has snippets that work as pasted", async () => {
    const { id } = await createCluster(pilvi, attributes);
    expect(await runAll(`/databases/${id}`, runs)).toEqual(greetings(runs));
  });
});

describe.each([
  { kind: "a private MySQL", attributes: { type: "platform_mysql" } },
  { kind: "a public MySQL", attributes: { type: "platform_mysql", config: { is_public: true } } },
])("$kind", ({ attributes }) => {
  const runs: Record<string, Run> = {
    URL: (text) => runner.prisma(`DATABASE_URL="${text}"`, "mariadb"),
    mariadb: (text) => runner.shell(text, `-Ne "select 'hello'"`),
    Laravel: (text) => runner.laravelDatabase(text),
    Node: node,
    Drizzle: node,
    Prisma: (text) => runner.prisma(text, "mariadb"),
    Python: python,
    PHP: php,
  };

  test("has snippets that work as pasted", async () => {
    const { id } = await createCluster(pilvi, attributes);
    expect(await runAll(`/databases/${id}`, runs)).toEqual(greetings(runs));
  });
});

describe.each([
  { kind: "a private cache", attributes: {} },
  { kind: "a public cache", attributes: { is_public: true } },
])("$kind", ({ attributes }) => {
  const runs: Record<string, Run> = {
    URL: (text) => runner.shell(`valkey-cli -u '${text}'`, "echo hello"),
    "valkey-cli": (text) => runner.shell(text, "echo hello"),
    Laravel: (text) => runner.laravelCache(text),
    Node: node,
    ioredis: node,
    Python: python,
    PHP: php,
  };

  test("has snippets that work as pasted", async () => {
    const { id } = await pilvi.createCache(attributes);
    expect(await runAll(`/caches/${id}`, runs)).toEqual(greetings(runs));
  });
});

test("a WebSocket application has snippets for servers whose events its snippets for browsers get", async () => {
  const { id } = await createServer(pilvi);
  const texts = await copiedFrom(window, `/websockets/${id}`);
  const servers: Record<string, Run> = {
    "Laravel .env": (text) => runner.laravelBroadcast(text),
    "Node server": node,
    "Python server": (text) => runner.pythonServer(text),
    "PHP server": php,
  };
  const browsers = ["pusher-js", "Laravel Echo"];
  expect([...texts.keys()]).toEqual([...browsers, ...Object.keys(servers)]);
  for (const browser of browsers) {
    const page = await openCustomerPage(chromium, await runner.bundle(texts.get(browser) ?? ""));
    for (const [server, run] of Object.entries(servers)) {
      const before = page.received();
      await until(`${browser} gets the event of ${server}`, async () => {
        await run(texts.get(server) ?? "");
        return page.received() > before;
      });
    }
    expect(page.sockets[0]).toStartWith("wss://");
    await page.close();
  }
});
