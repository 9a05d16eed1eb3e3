// The commands about database clusters against a real Pilvi: from create to delete, with sessions of real clients
// between.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type {
  DatabaseClusterDocument,
  DatabaseClusterResource,
  DatabaseResource,
} from "../../../src/sdk/index.ts";
import { startPilvi, TOKEN, until, type TestPilvi } from "../../support/pilvi/pilvi.ts";

const MAIN = join(import.meta.dir, "../../../src/main.ts");

let pilvi: TestPilvi;
let orders: DatabaseClusterResource;
let shop: DatabaseClusterResource;

beforeAll(async () => {
  pilvi = await startPilvi({ env: { PILVI_WARM_SLOTS: "1" } });
  orders = await create("orders");
  shop = await create("shop", "--type", "platform_mysql");
});

afterAll(async () => {
  await pilvi.close();
});

async function create(...args: string[]): Promise<DatabaseClusterResource> {
  return await documentOf<DatabaseClusterDocument>("create", ...args, "--wait", "--json").then(
    ({ data }) => data,
  );
}

/** The output of a command with `--json`. */
async function documentOf<Document>(...args: string[]): Promise<Document> {
  const { code, stdout, stderr } = await pilvi.run("databases", ...args);
  if (code !== 0) throw new Error(`${args.join(" ")}: ${code} ${stderr}`);
  return JSON.parse(stdout) as Document;
}

/** The arguments and the environment of all processes whose arguments contain a word. */
function processesWith(word: string): { pid: number; argv: string; env: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const argv = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
        if (!argv.includes(word)) return [];
        return [{ pid: Number(name), argv, env: readFileSync(`/proc/${name}/environ`, "utf8") }];
      } catch {
        // It has ended since.
        return [];
      }
    });
}

describe("a cluster", () => {
  test("is created as the options say", async () => {
    const made = await create("sized", "--version", "17", "--cu-max", "1", "--config", "retention_days=7");
    expect(made.attributes.status).toBe("available");
    expect(made.attributes.config).toEqual({
      cu_min: 0.25,
      cu_max: 1,
      suspend_seconds: 300,
      retention_days: 7,
    });
    expect(made.meta.version).toBe("17");
    const { code, stdout } = await pilvi.run("databases", "delete", "sized", "--yes", "--wait");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `Deleted the database cluster sized (${made.id}).\n`,
    });
  });

  test("with invalid options is refused with an error for each field", async () => {
    const args = ["create", "x", "--cu-min", "2", "--cu-max", "1", "--region", "moon"];
    const { code, stdout, stderr } = await pilvi.run("databases", ...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^name: /m);
    expect(stderr).toMatch(/^region: /m);
    expect(stderr).toMatch(/^config\.cu_min: /m);
  });

  test("is listed and shown with its databases and a URL for each client", async () => {
    const list = await pilvi.run("databases", "list", "--type", "platform_mysql");
    expect(list.stdout.split("\n")).toHaveLength(3);
    expect(list.stdout).toMatch(/^shop +available +awake +platform_mysql +m/m);
    const shown = await pilvi.run("databases", "show", "orders");
    const { port, password } = orders.attributes.connection;
    expect(shown.stdout).toMatch(/^Databases +main$/m);
    expect(shown.stdout).toContain(` postgres://app:${password}@127.0.0.1:${port}/main\n`);
  });

  test("can have each listed type and version", async () => {
    const { stdout } = await pilvi.run("databases", "types");
    expect(stdout).toMatch(/^hosted_serverless_postgres \(Serverless Postgres\), versions 18, 17/m);
    expect(stdout).toMatch(/^ {2}size +default mysql-flex-512mb\n +mysql-flex-512mb, /m);
  });
});

test("databases in a cluster are created, listed and deleted", async () => {
  const creation = ["schemas", "create", "orders", "reports", "--wait", "--json"];
  const made = await documentOf<{ data: DatabaseResource }>(...creation);
  expect(made.data.attributes).toMatchObject({ name: "reports", status: "available" });
  const list = await pilvi.run("databases", "schemas", "list", "orders");
  expect(list.stdout).toMatch(/^main +available .*\nreports +available /m);
  const query = ["--database", "reports", "--", "-Atc", "select current_database()"];
  const there = await pilvi.run("databases", "psql", "orders", ...query);
  expect(there).toEqual({ code: 0, stdout: "reports\n", stderr: "" });
  const gone = await pilvi.run("databases", "schemas", "delete", "orders", "reports", "--yes", "--wait");
  expect(gone.stdout).toBe(`Deleted the database reports (${made.data.id}).\n`);
});

describe("a session", () => {
  test("with psql begins in the default database, as the cluster's user", async () => {
    const sql = "select current_database(), current_user, 1";
    const answer = await pilvi.run("databases", "psql", "orders", "--", "-Atc", sql);
    expect(answer).toEqual({ code: 0, stdout: "main|app|1\n", stderr: "" });
  });

  test("with the MySQL client begins in the default database, as the cluster's user", async () => {
    const sql = "select database(), current_user(), 'ä'";
    const answer = await pilvi.run("databases", "mysql", "shop", "--", "-Ne", sql);
    expect(answer).toEqual({ code: 0, stdout: "main\tapp@%\tä\n", stderr: "" });
  });

  test("ends with the exit code of the client", async () => {
    const psql = await pilvi.run(
      "databases",
      "psql",
      "orders",
      "--",
      "-v",
      "ON_ERROR_STOP=1",
      "-c",
      "nonsense",
    );
    expect(psql.code).toBe(1);
    expect(psql.stderr).toContain('syntax error at or near "nonsense"');
    const usage = await pilvi.run("databases", "psql", "orders", "--", "--no-such-option");
    expect(usage.code).toBe(1);
    const mysql = await pilvi.run("databases", "mysql", "shop", "--", "-e", "nonsense");
    expect(mysql.code).toBe(1);
  });

  test("reads statements from its input", async () => {
    const child = Bun.spawn([process.execPath, MAIN, "databases", "psql", "orders", "--", "-At"], {
      env: { ...pilvi.env, PILVI_TOKEN: TOKEN },
      stdin: new Blob(["select 6 * 7;\n"]),
      stdout: "pipe",
    });
    expect(await new Response(child.stdout).text()).toBe("42\n");
    expect(await child.exited).toBe(0);
  });

  test.each([
    ["psql", "orders", "-c", "select pg_sleep(600)"],
    ["mysql", "shop", "-e", "select sleep(600)"],
  ])(
    "with %s shows its password in no process's arguments, and ends when it is sent to",
    async (...words) => {
      const [command, name, option, sql] = words;
      const child = Bun.spawn([process.execPath, MAIN, "databases", command, name, "--", option, sql], {
        env: { ...pilvi.env, PILVI_TOKEN: TOKEN },
        stdio: ["ignore", "ignore", "ignore"],
      });
      const { password = "" } = (name === "orders" ? orders : shop).attributes.connection;
      // Pilvi's command is one of the two processes, the client is the other.
      await until("the client runs", () => processesWith(sql).some(({ env }) => env.includes(password)));
      expect(processesWith(password)).toEqual([]);
      child.kill("SIGINT");
      await Bun.sleep(200);
      expect(processesWith(sql).length).toBeGreaterThanOrEqual(2);
      child.kill("SIGTERM");
      expect(await child.exited).toBe(143);
      await until("the client is gone", () => processesWith(sql).length === 0);
    },
  );

  test("with a cluster that has no database begins all the same", async () => {
    const empty = await create("empty", "--type", "platform_mysql", "--no-default-database");
    const answer = await pilvi.run("databases", "mysql", "empty", "--", "-Ne", "select database()");
    expect(answer).toEqual({ code: 0, stdout: "NULL\n", stderr: "" });
    await pilvi.run("databases", "delete", empty.id, "--yes");
  });
});

describe("wrong usage", () => {
  test("is psql for a MySQL cluster, and mysql for a Postgres cluster", async () => {
    expect(await pilvi.run("databases", "psql", "shop")).toEqual({
      code: 2,
      stdout: "",
      stderr: `shop is a MySQL cluster. Open it with: pilvi databases mysql ${shop.id}\n`,
    });
    expect(await pilvi.run("databases", "mysql", "orders")).toEqual({
      code: 2,
      stdout: "",
      stderr: `orders is a Postgres cluster. Open it with: pilvi databases psql ${orders.id}\n`,
    });
  });

  test.each([
    ["no name", ["create"]],
    ["a config without a value", ["create", "x", "--config", "retention_days"]],
    ["a number that is none", ["create", "x", "--cu-min", "much"]],
    ["a delete that nobody can confirm", ["delete", "orders"]],
    ["a database without a cluster", ["schemas", "create", "reports"]],
    ["the client's own options without two hyphens", ["psql", "orders", "-c", "select 1"]],
  ])("is %s", async (_, args) => {
    const { code, stdout, stderr } = await pilvi.run("databases", ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).not.toBe("");
  });
});

test("an unknown cluster name gives an error", async () => {
  const { code, stderr } = await pilvi.run("databases", "psql", "nothing");
  expect({ code, stderr }).toEqual({ code: 1, stderr: "There is no database cluster named nothing.\n" });
});

test("a machine without psql gets the command that installs it", async () => {
  const child = Bun.spawn([process.execPath, MAIN, "databases", "psql", "orders"], {
    env: { ...pilvi.env, PILVI_TOKEN: TOKEN, PATH: "/nonexistent" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  expect(await new Response(child.stderr).text()).toStartWith("There is no psql on this machine. Install");
  expect(await child.exited).toBe(1);
});
