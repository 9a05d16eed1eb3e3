// A real Laravel with a database and a cache: pages, Eloquent, sessions, a queue, the scheduler, commands, its log, a
// further release, a rollback, and sleep.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { localDriver } from "../../src/drivers/local/index.ts";
import { hostSocket } from "../../src/host/os/layout.ts";
import { createLog } from "../../src/lib/log.ts";
import type { CommandResource } from "../../src/resources/applications/commands/schema.ts";
import type {
  EnvironmentLogEntry,
  EnvironmentLogsDocument,
} from "../../src/resources/applications/logs/schema.ts";
import type { BackgroundProcessResource, DeploymentResource } from "../../src/sdk/index.ts";
import { ensureLaravel, hasLaravel, laravelFiles } from "../support/clients/laravel.ts";
import { TestApplication } from "../support/pilvi/applications.ts";
import { createCluster, createDatabase, MYSQL, startDatabases } from "../support/pilvi/databases.ts";
import { until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { freePort } from "../support/pilvi/ports.ts";

/** Composer reads thousands of files, on a machine that is busy with other tests. */
const BUILD_MS = 300_000;
/** A scheduled task is run at the beginning of the minute after the next at the latest. */
const SCHEDULE_MS = 150_000;
/** A line that php-fpm would break by itself. */
const LONG = "x".repeat(5_000);

const httpsPort = freePort();
let pilvi: TestPilvi;
let application: TestApplication;
let instance: string;
let first: DeploymentResource;

// Not every distribution has packages of Laravel.
if (!hasLaravel()) await ensureLaravel().catch(() => undefined);

beforeAll(async () => {
  pilvi = await startDatabases({ PILVI_EDGE_HTTPS: String(httpsPort) });
  application = await TestApplication.create(pilvi, "Shop");
  const { body } = await pilvi.api<{ data: { id: string }[] }>("GET", `${environment()}/instances`);
  instance = `/instances/${body.data[0]?.id}`;
}, 120_000);

afterAll(async () => await pilvi.close());

const environment = () => `/environments/${application.environmentId}`;

async function change(settings: object): Promise<void> {
  expect(await pilvi.api("PATCH", environment(), settings)).toMatchObject({ status: 200 });
}

async function setVariables(values: Record<string, string>): Promise<void> {
  const variables = Object.entries(values).map(([key, value]) => ({ key, value }));
  const path = `${environment()}/variables`;
  expect(await pilvi.api("POST", path, { method: "set", variables })).toMatchObject({ status: 200 });
}

async function get(path: string): Promise<unknown> {
  const response = await application.fetch(path);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text.slice(0, 2_000)}`);
  return JSON.parse(text);
}

async function post(path: string, values: Record<string, string> | FormData): Promise<Response> {
  const body = values instanceof FormData ? values : new URLSearchParams(values);
  return await application.fetch(path, { method: "POST", body });
}

const notes = async () => (await get("/api/notes")) as string[];

async function untilNote(text: string, timeoutMs?: number): Promise<void> {
  await until(`there is the note ${text}`, async () => (await notes()).includes(text), timeoutMs);
}

async function runCommand(command: string): Promise<CommandResource["attributes"]> {
  const created = await pilvi.api<{ data: CommandResource }>("POST", `${environment()}/commands`, {
    command,
  });
  let { attributes, id } = created.body.data;
  await until("the command ends", async () => {
    const { body } = await pilvi.api<{ data: CommandResource }>("GET", `/commands/${id}`);
    ({ attributes } = body.data);
    return attributes.finished_at !== null;
  });
  return attributes;
}

async function entries(query: string): Promise<EnvironmentLogEntry[]> {
  const search = new URLSearchParams({ query, per_page: "300" });
  const path = `${environment()}/logs?${search}`;
  return (await pilvi.api<EnvironmentLogsDocument>("GET", path)).body.data;
}

async function entry(query: string): Promise<EnvironmentLogEntry | undefined> {
  await until(`the log has ${query}`, async () => (await entries(query)).length > 0);
  return (await entries(query))[0];
}

async function worker(): Promise<BackgroundProcessResource | undefined> {
  const path = `${instance}/background-processes`;
  const { body } = await pilvi.api<{ data: BackgroundProcessResource[] }>("GET", path);
  return body.data.find(({ attributes }) => attributes.type === "worker");
}

describe.skipIf(!hasLaravel())("an application of Laravel, where it can be had", () => {
  test(
    "is planned, built by Composer, migrated and served",
    async () => {
      const cluster = await createCluster(pilvi);
      const schema = await createDatabase(pilvi, cluster.id, "shop");
      const cache = await pilvi.createCache();
      await change({
        database_schema_id: schema,
        cache_id: cache.id,
        deploy_command: "php artisan migrate --force",
      });
      first = await application.deploy(laravelFiles(), BUILD_MS);
      const { body } = await pilvi.api("GET", `/deployments/${first.id}/logs`);
      expect(JSON.stringify(body)).toContain("create_notes_table");
      const page = await application.text();
      expect(page).toContain('<p id="version">one</p>');
      expect(page).toContain("<li>&lt;b&gt;</li>");
      expect(await application.text("/robots.txt")).toStartWith("User-agent: *");
      for (const path of ["/.env", "/composer.json", "/../artisan", "/vendor/autoload.php"])
        expect([403, 404]).toContain((await application.fetch(path)).status);
    },
    BUILD_MS + 90_000,
  );

  test("reads and writes the database and the cache that are attached", async () => {
    expect(await get("/api/health")).toEqual({ database: 1 });
    expect((await post("/api/notes", { text: "by a form" })).status).toBe(201);
    expect(await notes()).toEqual(["by a form"]);
    expect(await get("/api/counter")).toEqual({ store: "redis", count: 1 });
    expect(await get("/api/counter")).toEqual({ store: "redis", count: 2 });
  });

  test("has a key of its own, a session in a cookie, and forms that nobody forges", async () => {
    expect(await get("/api/crypt")).toEqual({ opened: "text" });
    expect((await post("/form", { text: "forged" })).status).toBe(419);
    const home = await application.fetch("/");
    const cookie = home.headers.getSetCookie().map((each) => each.split(";")[0]);
    const token = /name="_token" value="(\w+)"/.exec(await home.text())?.[1] ?? "";
    const headers = { cookie: cookie.join("; ") };
    const body = new URLSearchParams({ _token: token, text: "honest" });
    const sent = await application.fetch("/form", { method: "POST", headers, body });
    expect([sent.status, await sent.json()]).toEqual([200, { text: "honest" }]);
  });

  test("knows its address behind the edge, with and without trust in proxies, and its client", async () => {
    const { vanity_domain: name } = (await application.environment()).attributes;
    const headers = { host: name, "x-forwarded-host": "evil.example", "x-forwarded-proto": "http" };
    const asked = async () =>
      await fetch(`https://127.0.0.1:${httpsPort}/api/request`, {
        headers,
        tls: { rejectUnauthorized: false },
      });
    const known = {
      secure: true,
      ip: "127.0.0.1",
      home: expect.stringMatching(new RegExp(`^https://${name}(:\\d+)?$`)),
    };
    expect(await (await asked()).json()).toMatchObject(known);
    expect(await get("/api/request")).toMatchObject({ secure: false, home: `http://${name}` });
    await setVariables({ TRUSTED_PROXIES: "*", APP_NAME: "Corner shop" });
    await until("the variables are there", async () =>
      (await application.text()).includes("<title>Corner shop</title>"),
    );
    expect(await (await asked()).json()).toMatchObject(known);
  });

  test("has what it needs of PHP: extensions, uploads, commands and other processes", async () => {
    const { extensions, ...others } = (await get("/api/environment")) as { extensions: string[] };
    expect(others).toMatchObject({ environment: "production", debug: false, isConfigCached: false });
    for (const name of ["mbstring", "xml", "intl", "redis", "pdo_pgsql", "pdo_mysql", "Zend OPcache"])
      expect(extensions).toContain(name);
    const form = new FormData();
    form.set("file", new File(["x".repeat(300_000)], "picture.png"));
    expect(await (await post("/api/upload", form)).text()).toBe("300000");
    expect(await get("/api/artisan")).toEqual({ code: 0 });
    expect(await get("/api/process")).toMatchObject({ output: expect.stringMatching(/^Laravel /) });
  });

  test("writes its log to the log of the environment, with levels, traces and whole lines", async () => {
    await post("/api/log", { level: "warning", text: "low on bread" });
    expect(await entry("low on bread")).toMatchObject({ level: "warning", message: "low on bread" });
    expect((await application.fetch("/api/failure")).status).toBe(500);
    expect(await entry("The page has failed")).toMatchObject({
      level: "error",
      type: "exception",
      message: "The page has failed",
      data: { class: "RuntimeException", code: 0, file: expect.stringContaining("/app/routes/api.php:") },
    });
    await post("/api/log", { level: "info", text: `${LONG} end` });
    expect(await entry("xxx end")).toMatchObject({ level: "info", message: `${LONG} end` });
    expect(await entries("buffered to a temporary file")).toEqual([]);
  });

  test("has artisan for commands", async () => {
    expect(await runCommand("php artisan notes:add 'by a command'")).toMatchObject({
      status: "command.success",
      output: expect.stringContaining("Note by a command is written"),
    });
    expect(await runCommand("php artisan nothing")).toMatchObject({
      status: "command.failure",
      exit_code: 1,
    });
  });

  test.each(["database", "redis"])(
    "has a worker for jobs in the %s, whose job ends before another release works",
    async (connection) => {
      await setVariables({ QUEUE_CONNECTION: connection, APP_NAME: `Queue in ${connection}` });
      // A process of before would put jobs into the former queue.
      await until("the variables are there", async () =>
        (await application.text()).includes(`<title>Queue in ${connection}</title>`),
      );
      if ((await worker()) === undefined)
        await pilvi.api("POST", `${instance}/background-processes`, {
          type: "worker",
          processes: 1,
          config: { tries: 1, sleep: 1 },
        });
      await until("the worker runs", async () => (await worker())?.meta.running === 1);
      await until("jobs are taken", async () => {
        await post("/api/jobs", { text: `${connection} short` });
        return (await notes()).includes(`${connection} short done`);
      });
      await post("/api/jobs", { text: `${connection} long`, seconds: "4" });
      await untilNote(`${connection} long begun`);
      await setVariables({ APP_NAME: `Shop ${connection}` });
      await untilNote(`${connection} long done`);
    },
    120_000,
  );

  test(
    "has its scheduled work run",
    async () => {
      expect(await pilvi.api("PATCH", instance, { uses_scheduler: true })).toMatchObject({ status: 200 });
      await untilNote("scheduled", SCHEDULE_MS);
    },
    SCHEDULE_MS + 10_000,
  );

  test(
    "has its variables and routes also when the build has cached them, and is rolled back",
    async () => {
      await change({
        build_command:
          "composer install --no-dev --no-interaction\nphp artisan optimize\nphp artisan view:cache",
      });
      await application.deploy(laravelFiles({ "version.txt": "two\n" }), BUILD_MS);
      expect(await application.text()).toContain('<p id="version">two</p>');
      expect(await get("/api/environment")).toMatchObject({ isConfigCached: false, areRoutesCached: false });
      expect(await get("/api/crypt")).toEqual({ opened: "text" });
      expect(await notes()).toContain("by a form");
      expect(await application.rollBack(first.id)).toMatchObject({
        attributes: { status: "deployment.succeeded" },
      });
      expect(await application.text()).toContain('<p id="version">one</p>');
    },
    BUILD_MS + 60_000,
  );

  test(
    "serves on with the former release when its migration fails",
    async () => {
      const broken = "<?php throw new RuntimeException('No such table');";
      const files = laravelFiles({ "version.txt": "three\n", "database/migrations/2027_broken.php": broken });
      const { attributes } = await application.tryToDeploy(files, BUILD_MS);
      expect(attributes).toMatchObject({
        status: "deployment.failed",
        failure_reason: expect.stringContaining("No such table"),
      });
      expect(await application.text()).toContain('<p id="version">one</p>');
    },
    BUILD_MS + 60_000,
  );

  test("sleeps with its worker, and wakes for a request", async () => {
    const driver = localDriver(hostSocket(pilvi.dataDir), { log: createLog("test", "error") });
    const route = (await driver.routes()).find(({ id }) => id === application.environmentId);
    const instances = route?.instances ?? [];
    expect(instances).toHaveLength(3);
    await Promise.all(instances.map(async (id) => await driver.suspend(id)));
    await until("all sleep", async () => {
      const states = await Promise.all(instances.map(async (id) => (await driver.observe(id)).state));
      return states.every((state) => state === "asleep");
    });
    expect(await notes()).toContain("by a form");
    await post("/api/jobs", { text: "after sleep" });
    await untilNote("after sleep done");
  }, 120_000);

  test("works with a MySQL in the place of its Postgres", async () => {
    const cluster = await createCluster(pilvi, { type: MYSQL, name: "shop-mysql" });
    const schema = await createDatabase(pilvi, cluster.id, "shop");
    await change({ database_schema_id: schema });
    await application.rollBack(first.id);
    await until("the database is the other", async () => !(await notes()).includes("by a form"));
    expect((await post("/api/notes", { text: "in MySQL" })).status).toBe(201);
    expect(await notes()).toContain("in MySQL");
  }, 180_000);
});
