// PHP and Deno applications on a real host: nginx with php-fpm in one sandbox, writable folders, commands in a release.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { applicationSpec, ApplicationHost } from "../../tests/support/applications/host.ts";
import { until } from "../../tests/support/pilvi/pilvi.ts";
import { isAlive } from "../../tests/support/pilvi/processes.ts";
import type { Runtime } from "../contracts/application.ts";
import type { ApplicationSpec } from "../contracts/instance-spec.ts";
import { findPhp, minorOf, offeredPhps } from "../engines/runtimes/php.ts";
import { loadConfig } from "../config.ts";
import { instanceFolder } from "./os/layout.ts";
import { findEngine } from "./engine/engine-process.ts";

const { enginesDir } = loadConfig(process.env);

const PHP = {
  name: "php",
  version: minorOf(offeredPhps(enginesDir)[0] ?? ""),
  folder: "public",
  writable: ["storage", "missing"],
  node: null,
} as const satisfies Runtime;

const INDEX = `<?php
if ($_SERVER["REQUEST_URI"] === "/write") file_put_contents("/app/storage/evil.php", "<?php echo 'run';");
if ($_SERVER["REQUEST_URI"] === "/log") error_log("a line for its maker");
if ($_SERVER["REQUEST_URI"] === "/long") file_put_contents("php://stderr", str_repeat("x", 20_000) . "\n");
if ($_SERVER["REQUEST_URI"] === "/slow") { touch("/app/storage/slow"); sleep(1); }
if ($_SERVER["REQUEST_URI"] === "/kill") posix_kill(posix_getppid(), 9);
header("Content-Type: application/json");
echo json_encode([
  "secret" => getenv("SECRET"),
  "path" => $_SERVER["REQUEST_URI"],
  "seeded" => trim(file_get_contents("/app/storage/seed.txt")),
  "tried" => @file_put_contents("/app/x", "x"),
  "peer" => $_SERVER["REMOTE_ADDR"],
  "https" => $_SERVER["HTTPS"] ?? "",
  "id" => $_SERVER["HTTP_X_REQUEST_ID"] ?? "",
  "post" => strlen($_POST["text"] ?? ""),
  "cache" => opcache_get_status(false)["opcache_enabled"],
  "missing" => array_values(array_filter(
    ["bcmath", "curl", "gd", "intl", "mbstring", "pdo_mysql", "pdo_pgsql", "pdo_sqlite", "redis", "xml", "zip"],
    fn ($name) => !extension_loaded($name))),
]);`;

const FILES = {
  "public/index.php": INDEX,
  "public/page.html": "a page",
  "public/.env": "SECRET=1",
  "composer.json": '{"name": "own/shop", "require": {}, "autoload": {"psr-4": {"Own\\\\": "src/"}}}',
  "storage/seed.txt": "seed",
};

let host: ApplicationHost;
let release: string;

beforeAll(async () => {
  expect(findPhp(enginesDir), "these tests need PHP; run: pilvi engines install").not.toBeNull();
  host = new ApplicationHost();
  await host.start();
  const command = "ln -s ../storage public/storage\ncomposer install --no-interaction\nphp --version";
  const build = await host.build(
    { runtime: { ...PHP, folder: null, writable: [] }, steps: [{ name: "install", command }] },
    FILES,
  );
  expect({ ...build.failure, log: await host.texts(build.id) }).toEqual({
    log: expect.arrayContaining([expect.stringMatching(/autoload files/), expect.stringMatching(/^PHP 8\./)]),
  });
  release = build.id;
});

afterAll(() => host.close());

function specOf(changes: Partial<ApplicationSpec> = {}): ApplicationSpec {
  return applicationSpec({ release, runtime: PHP, command: null, variables: { SECRET: "it's" }, ...changes });
}

async function get({ exposure }: ApplicationSpec, path: string, init: RequestInit = {}): Promise<Response> {
  return await fetch(`http://127.0.0.1:${exposure.port}${path}`, init);
}

test("PHP answers through its front controller, and nginx with files", async () => {
  const spec = specOf();
  expect(await host.host.ensure(spec)).toMatchObject({ state: "running", lastError: null });
  const headers = { "x-forwarded-for": "192.0.2.7", "x-forwarded-proto": "https", "x-request-id": "one" };
  const body = new URLSearchParams({ text: "x".repeat(3_000_000) });
  const answer = await get(spec, "/deep/path?x=1", { method: "POST", headers, body });
  expect(await answer.json()).toEqual({
    secret: "it's",
    path: "/deep/path?x=1",
    seeded: "seed",
    tried: false,
    peer: "192.0.2.7",
    https: "on",
    id: "one",
    post: 3_000_000,
    cache: true,
    missing: [],
  });
  expect(answer.headers.get("x-powered-by")).toBeNull();
  expect(await (await get(spec, "/page.html")).text()).toBe("a page");
  for (const path of ["/.env", "/none.php", "/index.php.bak/x.php"])
    expect((await get(spec, path)).status).toBe(404);
});

test("a file in a writable folder is data, never a program, and is gone after a restart", async () => {
  const spec = specOf();
  await host.host.ensure(spec);
  await get(spec, "/write");
  expect((await get(spec, "/storage/evil.php")).status).toBe(404);
  expect(await (await get(spec, "/storage/seed.txt")).text()).toBe("seed");
  await host.host.ensure({ ...spec, variables: {} });
  expect(await (await get(spec, "/")).json()).toMatchObject({ secret: false, seeded: "seed" });
});

test("an application whose php-fpm is killed starts again, whatever its variables", async () => {
  const names = ["main", "php", "web", "begin", "end"];
  const spec = specOf({ variables: Object.fromEntries(names.map((name) => [name, "1"])) });
  await host.host.ensure(spec);
  const folder = instanceFolder(host.dataDir, spec.id);
  const pid = findEngine(folder)?.pid;
  await get(spec, "/kill").catch(() => undefined);
  await until("another process runs", () => ![undefined, pid].includes(findEngine(folder)?.pid));
  await until("it answers", async () => (await get(spec, "/").catch(() => null))?.ok === true);
});

test("messages of PHP come into the log of the environment", async () => {
  const spec = specOf();
  await host.host.ensure(spec);
  await get(spec, "/log");
  await get(spec, "/long", { method: "POST", body: new URLSearchParams({ text: "y".repeat(100_000) }) });
  const { log } = instanceFolder(host.dataDir, spec.id);
  await until("the line is there", async () => /^.*a line for its maker$/m.test(await Bun.file(log).text()));
  await until("the long line is whole", async () => /^x{20000}$/m.test(await Bun.file(log).text()));
  expect(await Bun.file(log).text()).not.toContain("temporary file");
});

test("the next host finds PHP running; a restart lets a request end, and a removal leaves no process", async () => {
  const spec = specOf();
  await host.host.ensure(spec);
  const pid = findEngine(instanceFolder(host.dataDir, spec.id))?.pid ?? 0;
  await host.restart();
  expect(await host.host.ensure(spec)).toMatchObject({ state: "running" });
  expect(findEngine(instanceFolder(host.dataDir, spec.id))?.pid).toBe(pid);
  const slow = get(spec, "/slow");
  await until("PHP has the request", async () => (await get(spec, "/storage/slow")).ok);
  const changed = host.host.ensure({ ...spec, variables: {} });
  expect((await slow).status).toBe(200);
  expect(await changed).toMatchObject({ state: "running" });
  expect(isAlive(pid)).toBe(false);
  await host.host.remove(spec.id);
  await expect(get(spec, "/")).rejects.toThrow();
});

test("a command in the release runs with PHP and writable folders", async () => {
  const command =
    "echo more > storage/more\nphp -r 'echo getenv(\"SECRET\"), PHP_EOL;'\ncat storage/seed.txt";
  const run = await host.runIn(release, {
    runtime: { ...PHP, folder: null },
    steps: [{ name: "deploy", command }],
    variables: { SECRET: "known" },
  });
  expect(run.failure).toBeNull();
  expect(await host.texts(run.id)).toEqual(["known", "seed"]);
});

test("PHP that this machine does not have is refused with the version that it has", async () => {
  const build = await host.build({ runtime: { ...PHP, version: "5.6" } }, FILES);
  expect(build.failure).toEqual({
    code: "runtime",
    message: `PHP 5.6 cannot be had here; ${PHP.version} can.`,
  });
});

test("a Deno application runs with the modules of its build", async () => {
  const files = {
    "deno.json": "{}",
    "own.ts": "export const word: string = 'module';",
    "main.ts": `import { word } from './own.ts';
      Deno.serve({ port: Number(Deno.env.get("PORT")), hostname: "127.0.0.1" }, () => new Response(word));`,
  };
  const build = await host.build(
    { runtime: { name: "deno" }, steps: [{ name: "install", command: "deno install" }] },
    files,
  );
  expect({ ...build.failure, log: await host.texts(build.id) }).toMatchObject({ log: expect.anything() });
  expect(build.failure).toBeNull();
  const command = "deno run --allow-net --allow-env --allow-read main.ts";
  const spec = applicationSpec({ release: build.id, runtime: { name: "deno" }, command });
  expect(await host.host.ensure(spec)).toMatchObject({ state: "running", lastError: null });
  expect(await (await get(spec, "/")).text()).toBe("module");
});
