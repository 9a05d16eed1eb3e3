// Applications of real frameworks from their packages to their end: built, answering, changed, asleep and deleted.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { localDriver } from "../../src/drivers/local/index.ts";
import { hostSocket } from "../../src/host/os/layout.ts";
import { createLog } from "../../src/lib/log.ts";
import { git, testFolder, tryGit } from "../../src/sources/test-support.ts";
import { express, expressLock, fastify, flask, honoOnBun, vite } from "../support/applications/frameworks.ts";
import { startChromium } from "../support/clients/chromium.ts";
import { TestApplication, type Files } from "../support/pilvi/applications.ts";
import { startPilvi, TOKEN, type TestPilvi, until } from "../support/pilvi/pilvi.ts";

/** Frameworks whose applications are uploaded, and answer at a path with a parameter. */
const SERVERS = { Fastify: fastify, Hono: honoOnBun, Flask: flask };
/** Packages come from other machines, and builds wait for each other. */
const BUILDS_MS = 400_000;

let pilvi: TestPilvi;
let pushed: TestApplication;
let site: TestApplication;
let lock: string;
let first: string;
const servers = new Map<string, TestApplication>();

beforeAll(async () => {
  [pilvi, lock] = await Promise.all([startPilvi(), expressLock()]);
  pushed = await TestApplication.create(pilvi, "Express");
  site = await TestApplication.create(pilvi, "Vite");
  for (const name of Object.keys(SERVERS)) servers.set(name, await TestApplication.create(pilvi, name));
}, 300_000);

afterAll(async () => await pilvi.close());

function server(name: string): TestApplication {
  const application = servers.get(name);
  if (application === undefined) throw new Error(`${name} is not among the servers`);
  return application;
}

/** Deploys files, and gives the id of a deployment that succeeded. */
async function deploy(application: TestApplication, files: Files): Promise<string> {
  const { id, attributes } = await application.deploy(files, BUILDS_MS);
  expect(attributes).toMatchObject({ status: "deployment.succeeded", failure_reason: null });
  return id;
}

/** Pushes files with git's own client as a first commit. */
async function push(application: TestApplication, files: Files): Promise<void> {
  using folder = testFolder();
  const work = join(folder.path, "work");
  mkdirSync(work);
  await git(work, "init", "--quiet", "--initial-branch=main");
  for (const [path, text] of Object.entries(files)) await Bun.write(join(work, path), text);
  await git(work, "add", "--all");
  await git(work, "commit", "--quiet", "-m", "first");
  const remote = `${pilvi.url.replace("//", `//any:${TOKEN}@`)}/git/${application.id}.git`;
  const { code, stderr } = await tryGit(work, "push", remote, "main");
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("Deployed: ") });
}

test(
  "applications of Express, Fastify, Hono, Flask and Vite are built from their packages and answer",
  async () => {
    await Promise.all([
      push(pushed, express(lock)("one")),
      deploy(site, vite("one")),
      ...Object.entries(SERVERS).map(async ([name, files]) => {
        const id = await deploy(server(name), files("one"));
        if (name === "Hono") first = id;
      }),
    ]);
    for (const application of [pushed, ...servers.values()]) {
      expect(await application.text()).toBe("one");
      const item = await application.fetch("/items/a%20b");
      expect([item.status, await item.json()]).toEqual([200, { id: "a b" }]);
      expect((await application.fetch("/nowhere")).status).toBe(404);
    }
    const { attributes } = await site.environment();
    expect(attributes.serving).toMatchObject({ mode: "static" });
  },
  BUILDS_MS,
);

test("a page that Vite has built runs in Chromium", async () => {
  const { attributes } = await site.environment();
  const chromium = await startChromium([`--host-resolver-rules=MAP ${attributes.vanity_domain} 127.0.0.1`]);
  try {
    const page = await chromium.browser.newPage();
    await page.goto(`http://${attributes.vanity_domain}:${pilvi.env.PILVI_EDGE_HTTP}/`);
    await page.locator("#text", { hasText: "one" }).waitFor();
    expect(await page.title()).toBe("Shop");
  } finally {
    await chromium.close();
  }
}, 300_000);

test(
  "a change of Hono's application is deployed, and rolled back without a build",
  async () => {
    const application = server("Hono");
    await deploy(application, honoOnBun("two"));
    expect(await application.text()).toBe("two");
    const { attributes, meta } = await application.rollBack(first);
    expect(attributes.status).toBe("deployment.succeeded");
    expect(meta.release_of).toBe(first);
    expect(await application.text()).toBe("one");
  },
  BUILDS_MS,
);

test("two replicas of Express share the requests", async () => {
  const environment = `/environments/${pushed.environmentId}`;
  const { body } = await pilvi.api<{ data: { id: string }[] }>("GET", `${environment}/instances`);
  await pilvi.api("PATCH", `/instances/${body.data[0]?.id}`, { min_replicas: 2, max_replicas: 2 });
  await until("two processes answer", async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => pushed.fetch()));
    return new Set(answers.map(({ headers }) => headers.get("x-process"))).size === 2;
  });
}, 300_000);

test("each server sleeps, and wakes for a request", async () => {
  const driver = localDriver(hostSocket(pilvi.dataDir), { log: createLog("test", "error") });
  const routes = await driver.routes();
  await Promise.all(
    [...servers.values()].map(async (application) => {
      const instance = routes.find(({ id }) => id === application.environmentId)?.instances[0] ?? "";
      await driver.suspend(instance);
      await until("it sleeps", async () => (await driver.observe(instance)).state === "asleep");
      expect(pilvi.enginePids(instance)).toEqual([]);
      expect(await application.text()).toBe("one");
      expect((await driver.observe(instance)).state).toBe("running");
    }),
  );
}, 300_000);

test("nothing is left of deleted applications", async () => {
  await Promise.all([pushed, site, ...servers.values()].map((application) => application.delete()));
  await until("no instance is left", () => pilvi.instanceFolders().length === 0);
  for (const folder of ["releases", "builds", "repositories", "routes"]) {
    const path = join(pilvi.dataDir, folder);
    await until(`${folder} is empty`, () => !existsSync(path) || readdirSync(path).length === 0);
  }
}, 300_000);
