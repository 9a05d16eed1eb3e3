// The commands about database clusters against a server that speaks the documented shapes.
import { afterEach, describe, expect, test } from "bun:test";
import { CommanderError } from "commander";
import type { DatabaseClusterResource, DatabaseResource } from "../../sdk/index.ts";
import { bodies, closeServers, failureOf, list, noContent, one, requests, serve } from "../test-server.ts";
import { fakeIo, runCommand } from "../test-support.ts";
import { typesRoute } from "./test-support.ts";

afterEach(closeServers);

const id = "db-0199f0a2-6c3e-7d5b-9a41-000000000001";
const path = `/databases/clusters/${id}`;
const credentials = { username: "app", password: "p/w" };

function cluster(
  attributes: Partial<DatabaseClusterResource["attributes"]> = {},
  protocol: "postgres" | "mysql" = "postgres",
): DatabaseClusterResource {
  return {
    id,
    type: "databases",
    attributes: {
      name: "orders",
      type: protocol === "postgres" ? "hosted_serverless_postgres" : "platform_mysql",
      status: "available",
      region: "us-east-1",
      created_at: "2026-03-15T08:18:53.000000Z",
      config: { cu_min: 0.25, cu_max: 1, suspend_seconds: 300, retention_days: 0 },
      supports_pitr: "false",
      earliest_restore_time: "",
      connection: {
        hostname: "127.0.0.1",
        port: 20_001,
        protocol,
        driver: protocol === "postgres" ? "pgsql" : "mysql",
        "": credentials,
        ...credentials,
      },
      ...attributes,
    },
    relationships: { databases: { data: [] } },
    meta: {
      former_credentials: null,
      backup: null,
      restore: null,
      origin: null,
      refresh: null,
      replicas: [
        {
          id: "replica-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f",
          hostname: "127.0.0.1",
          port: 20_002,
          status: "available",
          lag_seconds: 2,
          last_error: null,
        },
      ],
      engine: { name: "postgres", version: "18.4", warning: null },
      sleep: { state: "awake", since: "2026-03-15T08:18:54.000Z", wakes: 0, last_wake: null, pending: false },
      last_error: null,
      overdue: false,
      storage_bytes: 41_943_040,
      version: "18",
      limits: {
        memory_bytes: 2 ** 30,
        cpus: 0.25,
        max_connections: 104,
        max_processes: 200,
        enforced_by: "cgroup-v2",
      },
    },
  };
}

function schema(
  name: string,
  status: DatabaseResource["attributes"]["status"] = "available",
): DatabaseResource {
  return {
    id: `schema-0199f0a2-6c3e-7d5b-9a41-${String(name.length).padStart(12, "0")}`,
    type: "databaseSchemas",
    attributes: { name, status, created_at: "2026-03-15T08:18:53.000000Z" },
    relationships: {
      database: { data: { id, type: "databases" } },
      environments: { data: [] },
    },
  };
}

function created(): string {
  return serve({ ...typesRoute(), "POST /databases/clusters": one(cluster({ status: "creating" }), 201) });
}

describe("create", () => {
  test("sends only the given options", async () => {
    await runCommand(fakeIo(), created(), "databases", "create", "orders");
    expect(bodies.at(-1)).toEqual({
      name: "orders",
      type: "hosted_serverless_postgres",
      region: "us-east-1",
    });
  });

  test("merges options of their own and --config, with the types that the API expects", async () => {
    const options =
      "--type platform_mysql --version 8.4 --size mysql-flex-1gb --storage 20 --suspend-seconds 0 --no-default-database";
    const settings =
      "--config is_public=true --config maintenance_window=sun:06:00-sun:06:30 --config storage=5";
    const args = `databases create shop ${options} ${settings}`.split(" ");
    await runCommand(fakeIo(), created(), ...args);
    expect(bodies.at(-1)).toEqual({
      name: "shop",
      type: "platform_mysql",
      version: "8.4",
      region: "us-east-1",
      config: {
        is_public: true,
        maintenance_window: "sun:06:00-sun:06:30",
        size: "mysql-flex-1gb",
        storage: 20,
        suspend_seconds: 0,
      },
      create_default_database: false,
    });
  });

  test("prints how to wait, and what to try", async () => {
    const io = fakeIo();
    await runCommand(io, created(), "databases", "create", "orders");
    expect(io.stderr).toBe(`Being created. Wait for it with: pilvi databases show ${id} --wait\n`);
    expect(io.stdout).toEndWith(`\nTry it: npx pilvi databases psql ${id}\n`);
  });
});

test("show prints the databases, the config in force, and a URL with the oldest database", async () => {
  const included = [schema("old", "deleting"), schema("main"), schema("reports")];
  const io = fakeIo();
  await runCommand(io, serve({ [`GET ${path}`]: one(cluster(), 200, included) }), "databases", "show", id);
  expect(io.stdout).toMatch(/^Config +cu_min=0\.25, cu_max=1, suspend_seconds=300, retention_days=0$/m);
  expect(io.stdout).toMatch(
    /^In force +1024 MiB of memory, 0\.25 CPUs, 104 connections \(held to it by cgroup-v2\)$/m,
  );
  expect(io.stdout).toMatch(/^Databases +main, reports$/m);
  expect(io.stdout).toMatch(/^Replica +127\.0\.0\.1:20002 \(available, 2 s behind\)$/m);
  expect(io.stdout).toMatch(/^URL +postgres:\/\/app:p%2Fw@127\.0\.0\.1:20001\/main$/m);
});

test("list shows a table, or says that there are no clusters", async () => {
  const io = fakeIo();
  await runCommand(io, serve({ "GET /databases/clusters": list(cluster()) }), "databases", "list");
  expect(io.stdout.split("\n")[1]).toBe(
    `orders  available  awake  hosted_serverless_postgres  postgres 18.4  us-east-1  127.0.0.1:20001  ${id}`,
  );
  const empty = fakeIo();
  await runCommand(empty, serve({ "GET /databases/clusters": list() }), "databases", "list");
  expect(empty.stdout).toBe(
    "There are no database clusters yet. Create one with: pilvi databases create NAME --wait\n",
  );
});

test("delete requires --yes where no person can be asked", async () => {
  for (const args of [
    ["delete", "orders"],
    ["schemas", "delete", "orders", "main"],
  ]) {
    const error: unknown = await runCommand(fakeIo(), serve({}), "databases", ...args).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(CommanderError);
    expect(error).toMatchObject({ exitCode: 2 });
  }
  expect(requests).toEqual([]);
});

test("databases in a cluster are found by their names", async () => {
  const reports = schema("reports");
  const io = fakeIo();
  const url = serve({
    [`GET ${path}`]: one(cluster()),
    [`GET ${path}/databases`]: list(schema("main"), reports),
    [`GET ${path}/databases/${reports.id}`]: one(reports),
    [`DELETE ${path}/databases/${reports.id}`]: noContent,
  });
  await runCommand(io, url, "databases", "schemas", "list", id);
  expect(io.stdout).toMatch(/^NAME .*\nmain +available .*\nreports +available /);
  await runCommand(io, url, "databases", "schemas", "delete", id, "reports", "--yes");
  expect(io.stdout).toEndWith(`Deleting the database reports (${reports.id}).\n`);
  const failure = await failureOf(
    runCommand(io, url, "databases", "schemas", "delete", id, "nothing", "--yes"),
  );
  expect(failure).toEqual({ text: "There is no database named nothing.", exitCode: 1 });
});

describe("a session", () => {
  const included = [schema("main"), schema("reports")];
  const serving = (resource: DatabaseClusterResource, databases = included) =>
    serve({ [`GET ${path}`]: one(resource, 200, databases) });

  test("with psql passes everything through the environment, and its exit code is the command's", async () => {
    const io = fakeIo();
    await runCommand(io, serving(cluster()), "databases", "psql", id, "--", "-c", "select 1");
    expect(io.runs[0]?.argv).toEqual(["/usr/bin/postgres", "-c", "select 1"]);
    expect(io.runs[0]?.env).toMatchObject({
      LD_LIBRARY_PATH: "/lib",
      PGHOST: "127.0.0.1",
      PGPORT: "20001",
      PGUSER: "app",
      PGPASSWORD: "p/w",
      PGDATABASE: "main",
      PGSERVICE: undefined,
    });
    expect(io.exitCode).toBe(3);
  });

  test("with the MySQL client passes its password through the environment only", async () => {
    const io = fakeIo();
    const args = ["databases", "mysql", id, "--database", "reports", "--", "-e", "select 1"];
    await runCommand(io, serving(cluster({}, "mysql")), ...args);
    const [run] = io.runs;
    const options = "--no-defaults --default-character-set=utf8mb4 --protocol=tcp";
    const login = "--host=127.0.0.1 --port=20001 --user=app --database=reports";
    expect(run?.argv.join(" ")).toBe(`/usr/bin/mysql ${options} ${login} -e select 1`);
    expect(run?.env).toEqual({ LD_LIBRARY_PATH: "/lib", MYSQL_PWD: "p/w" });
  });

  test("begins outside the customer's databases when the cluster has no database", async () => {
    const io = fakeIo();
    await runCommand(io, serving(cluster(), []), "databases", "psql", id);
    await runCommand(io, serving(cluster({}, "mysql"), []), "databases", "mysql", id);
    expect(io.runs[0]?.env.PGDATABASE).toBe("postgres");
    expect(io.runs[1]?.argv.join(" ")).not.toContain("--database");
  });

  test("is refused with the wrong client, without the password, and before the cluster is available", async () => {
    const io = fakeIo();
    expect(await failureOf(runCommand(io, serving(cluster({}, "mysql")), "databases", "psql", id))).toEqual({
      text: `orders is a MySQL cluster. Open it with: pilvi databases mysql ${id}`,
      exitCode: 2,
    });
    const { username: _, password: __, ...connection } = cluster().attributes.connection;
    const hidden = cluster({ connection: { ...connection, "": [] } });
    expect(await failureOf(runCommand(io, serving(hidden), "databases", "psql", id))).toEqual({
      text: "This token may not see the cluster's password; it needs the ability databases:credentials.",
      exitCode: 1,
    });
    const young = cluster({ status: "creating" });
    expect(await failureOf(runCommand(io, serving(young), "databases", "psql", id))).toEqual({
      text: `The status of orders is creating. Wait for it with: pilvi databases show ${id} --wait`,
      exitCode: 1,
    });
    expect(io.runs).toEqual([]);
  });
});

test("types fits into a terminal of 80 columns", async () => {
  const sizes = Array.from({ length: 30 }, (_, index) => `db.m8g.${index}xlarge`);
  const members = [
    { name: "size", type: "string", enum: sizes, default: sizes[0] },
    { name: "storage_autoscale_max_gb", type: "integer", min: 5, max: 65_536, default: null },
  ];
  const regions = Array.from({ length: 12 }, (_, index) => `ap-southeast-${index}`);
  const type = {
    type: "platform_mysql",
    label: "MySQL",
    versions: ["10.11"],
    config_schema: members,
    regions,
  };
  const io = fakeIo();
  const url = serve({ "GET /databases/types": () => Response.json({ data: [type] }) });
  await runCommand(io, url, "databases", "types");
  expect(io.stdout).toContain("default null, integer from 5 to 65536\n");
  for (const word of [...sizes, ...regions]) expect(io.stdout).toContain(word);
  expect(io.stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
});

test("update sends the named members of the config, and suspend sends no body", async () => {
  const url = serve({
    ...typesRoute(),
    [`GET ${path}`]: one(cluster()),
    [`PATCH ${path}`]: one(cluster()),
    [`POST ${path}/suspend`]: one(cluster()),
  });
  const io = fakeIo();
  const options = "--cu-max 2 --suspend-seconds 60 --config retention_days=7";
  await runCommand(io, url, "databases", "update", id, ...options.split(" "));
  expect(bodies).toEqual([{ config: { retention_days: 7, cu_max: 2, suspend_seconds: 60 } }]);
  expect(io.stderr).toBe("");
  await runCommand(io, url, "databases", "suspend", id, "--json");
  expect(bodies).toHaveLength(1);
  expect(requests.at(-1)).toBe(`POST ${path}/suspend`);
});

test("update without a change is wrong usage", async () => {
  const command = runCommand(fakeIo(), serve({}), "databases", "update", "orders");
  expect(await command.catch((error: unknown) => error)).toMatchObject({ exitCode: 2 });
});
