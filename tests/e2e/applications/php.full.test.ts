// A PHP application through the API and the edge, with a database that it uses, and a version that the machine lacks.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { TestApplication } from "../../support/pilvi/applications.ts";
import { createCluster, createDatabase, startDatabases } from "../../support/pilvi/databases.ts";
import { until, type TestPilvi } from "../../support/pilvi/pilvi.ts";

let pilvi: TestPilvi;
let application: TestApplication;

beforeAll(async () => {
  pilvi = await startDatabases();
  application = await TestApplication.create(pilvi, "Guest book");
});

afterAll(async () => {
  await pilvi.close();
});

const INDEX = `<?php
$host = getenv("DB_HOST");
if ($host === false) exit("no database");
$dsn = "pgsql:host=$host;port=" . getenv("DB_PORT") . ";dbname=" . getenv("DB_DATABASE");
$db = new PDO($dsn, getenv("DB_USERNAME"), getenv("DB_PASSWORD"));
$db->exec("create table if not exists visits (path text)");
$db->prepare("insert into visits values (?)")->execute([$_SERVER["REQUEST_URI"]]);
echo implode(" ", $db->query("select path from visits")->fetchAll(PDO::FETCH_COLUMN));`;

test("a PHP application is deployed, and uses the database that is attached", async () => {
  const { attributes } = await application.deploy({ "public/index.php": INDEX });
  expect(attributes).toMatchObject({ status: "deployment.succeeded", failure_reason: null });
  expect(await application.text()).toBe("no database");
  const cluster = await createCluster(pilvi);
  const schema = await createDatabase(pilvi, cluster.id, "guests");
  const path = `/environments/${application.environmentId}`;
  expect((await pilvi.api("PATCH", path, { database_schema_id: schema })).status).toBe(200);
  await until(
    "the application has the database",
    async () => (await application.text("/first")) !== "no database",
  );
  expect(await application.text("/second")).toMatch(/\/first (\/ )?\/second$/);
});

test("a version of PHP that the machine does not have is refused with what it has", async () => {
  const path = `/environments/${application.environmentId}`;
  expect((await pilvi.api("PATCH", path, { php_version: "8.5:1" })).status).toBe(200);
  const { attributes } = await application.tryToDeploy({ "public/index.php": INDEX });
  expect(attributes.status).toBe("failed");
  expect(attributes.failure_reason).toMatch(/asks for PHP 8\.5; this host has \d+\.\d+\.\d+\./);
});
