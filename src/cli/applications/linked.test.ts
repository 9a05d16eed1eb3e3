// The commands about the linked environment against a server that speaks the documented shapes.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { CommanderError } from "commander";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bodies, closeServers, failureOf, list, one, requests, serve } from "../test-server.ts";
import { fakeIo, runCommand, sampleCache } from "../test-support.ts";
import { dotenvText, parseDotenv } from "./dotenv.ts";
import {
  APPLICATION_ID,
  deploymentId,
  environmentPath,
  link,
  sampleApplication,
  sampleDeployment,
  sampleEnvironment,
  sampleLog,
  temporaryFolder,
  URL_OF_IT,
} from "./test-support.ts";

let folder: ReturnType<typeof temporaryFolder>;

beforeEach(() => {
  folder = temporaryFolder();
  mkdirSync(folder.path);
});

afterEach(async () => {
  folder.remove();
  await closeServers();
});

const deployments = [
  sampleDeployment(4, { status: "build.failed" }),
  sampleDeployment(3, {}, deploymentId(2)),
  sampleDeployment(2),
  sampleDeployment(1),
];

/** Runs a command in the linked folder. */
async function run(routes: Parameters<typeof serve>[0], ...args: string[]) {
  const url = serve({
    [`GET ${environmentPath}`]: one(sampleEnvironment()),
    [`GET ${environmentPath}/deployments`]: list(...deployments),
    [`GET /applications/${APPLICATION_ID}`]: one(sampleApplication()),
    ...routes,
  });
  link(folder.path, url);
  const io = fakeIo({ folder: folder.path, readInput: async () => "s3cret\n" });
  await runCommand(io, url, ...args);
  return io;
}

/** The answers of a deployment that succeeds at once. */
function succeeds(number: number): Parameters<typeof serve>[0] {
  const path = `/deployments/${deploymentId(number)}`;
  return {
    [`GET ${path}/logs`]: sampleLog("deployment.succeeded"),
    [`GET ${path}`]: one(sampleDeployment(number)),
  };
}

test("a folder without a link is an error that names the command for it", async () => {
  const failure = await failureOf(runCommand(fakeIo({ folder: folder.path }), serve({}), "status"));
  expect(failure?.exitCode).toBe(1);
  expect(failure?.text).toContain("pilvi init");
});

test("status shows the environment with its latest deployment, and open its address", async () => {
  const { stdout } = await run({}, "status");
  expect(stdout).toMatch(/^Application {2}Web shop$/m);
  expect(stdout).toMatch(/^Latest {7}build\.failed \(Change 4\)$/m);
  expect((await run({}, "open")).stdout).toBe(`${URL_OF_IT}\n`);
});

test("an environment without a release is not called running", async () => {
  const routes = {
    [`GET ${environmentPath}`]: one(sampleEnvironment({}, null)),
    [`GET /applications/${APPLICATION_ID}/environments`]: list(sampleEnvironment({}, null)),
  };
  expect((await run(routes, "status")).stdout).toMatch(/^Status {7}empty$/m);
  expect((await run(routes, "environments", "list")).stdout).toMatch(/^production {2}empty /m);
});

test("deployments lists the newest first and marks the current one", async () => {
  const { stdout } = await run({}, "deployments", "--number", "2");
  const [, first = "", second = "", ...rest] = stdout.trimEnd().split("\n");
  expect(first).toMatch(/^ {3}build\.failed +4f0c9a1 {2}2026-03-15 08:18:53 {2}12\.5 s {2}Change 4/);
  expect(second).toStartWith("*  deployment.succeeded");
  expect(rest).toEqual([]);
});

test("deployments with an id prints the output and the reason of a failure", async () => {
  const path = `/deployments/${deploymentId(4)}`;
  const failed = sampleDeployment(4, { status: "build.failed", failure_reason: "npm ended with 1." });
  const steps = [{ step: "build", description: "npm test", status: "failed" as const, output: "oh\n" }];
  const routes = { [`GET ${path}`]: one(failed), [`GET ${path}/logs`]: sampleLog("build.failed", steps) };
  const { stdout } = await run(routes, "deployments", deploymentId(4));
  expect(stdout).toBe(
    "build: npm test\n  oh\n  failed\nThe deployment failed (build.failed).\nnpm ended with 1.\n",
  );
});

test("rollback starts the release before the current one, even if that is a rollback itself", async () => {
  const routes = {
    [`POST ${environmentPath}/deployments`]: one(sampleDeployment(5, { status: "pending" }), 201),
    ...succeeds(5),
  };
  const { stdout } = await run(routes, "rollback");
  expect(bodies).toEqual([{ release_of: deploymentId(1) }]);
  expect(stdout).toBe(`${URL_OF_IT}\n`);
});

test("rollback without an earlier release fails", async () => {
  const only = list(sampleDeployment(3));
  const failure = await failureOf(run({ [`GET ${environmentPath}/deployments`]: only }, "rollback"));
  expect(failure?.text).toStartWith("There is no earlier release.");
});

test("restart deploys what the latest deployment had, start the newest commit", async () => {
  const begun = one(sampleDeployment(5, { status: "pending" }), 201);
  const routes = { [`POST ${environmentPath}/start`]: begun, ...succeeds(5) };
  await run(routes, "restart");
  await run(routes, "start", "--no-wait");
  expect(bodies).toEqual([{ redeploy: true }, {}]);
});

test("stop stops the environment", async () => {
  const stopped = one(sampleEnvironment({ status: "stopped" }));
  const { stdout } = await run({ [`POST ${environmentPath}/stop`]: stopped }, "stop");
  expect(stdout).toBe("Stopped production. Start it with: pilvi start\n");
});

test("env list hides values without --show", async () => {
  const hidden = await run({}, "env", "list");
  expect(hidden.stdout).toBe("NAME      VALUE\nAPP_KEY   hidden\nGREETING  hidden\n");
  expect((await run({}, "env", "list", "--json")).stdout).not.toContain("hello");
  expect((await run({}, "env", "list", "--show")).stdout).toContain("GREETING  hello world");
});

test("env of a token that may not see variables says which ability it lacks", async () => {
  const routes = { [`GET ${environmentPath}`]: one(sampleEnvironment({ "": [] })) };
  const failure = await failureOf(run(routes, "env", "list"));
  expect(failure?.text).toContain("applications:credentials");
});

test("env set takes values with equals signs and one from the input, and prints no value", async () => {
  const routes = { [`POST ${environmentPath}/variables`]: one(sampleEnvironment()) };
  const { stdout } = await run(routes, "env", "set", "A=b=c", "KEY=-");
  expect(bodies).toEqual([
    {
      method: "set",
      variables: [
        { key: "A", value: "b=c" },
        { key: "KEY", value: "s3cret" },
      ],
    },
  ]);
  expect(stdout).toBe("Set A, KEY in production.\n");
});

test("following without a deployment is wrong usage", async () => {
  await expect(run({}, "deployments", "--follow")).rejects.toThrow(CommanderError);
});

test("env set refuses what is no assignment as wrong usage", async () => {
  const failure = await failureOf(run({}, "env", "set", "GREETING"));
  expect(failure).toEqual({ text: "GREETING is not KEY=VALUE.", exitCode: 2 });
});

test("env unset deletes variables", async () => {
  const routes = { [`POST ${environmentPath}/variables/delete`]: one(sampleEnvironment()) };
  await run(routes, "env", "unset", "A", "B");
  expect(bodies).toEqual([{ keys: ["A", "B"] }]);
});

test("env pull writes a file that only its owner can read, and replaces none without --force", async () => {
  const file = join(folder.path, ".env");
  await run({}, "env", "pull");
  expect(readFileSync(file, "utf8")).toBe("APP_KEY=base64:secret\nGREETING='hello world'\n");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const failure = await failureOf(run({}, "env", "pull"));
  expect(failure?.text).toStartWith(".env exists.");
  await run({}, "env", "pull", "--force");
});

test("env push sets the variables of a file", async () => {
  writeFileSync(join(folder.path, "other.env"), "# comment\nexport A=1 # one\nB='two # 2'\n");
  await run({ [`POST ${environmentPath}/variables`]: one(sampleEnvironment()) }, "env", "push", "other.env");
  expect(bodies).toEqual([
    {
      method: "set",
      variables: [
        { key: "A", value: "1" },
        { key: "B", value: "two # 2" },
      ],
    },
  ]);
});

test("a .env file keeps every value", () => {
  const values = ["", "plain", "two words", 'a "quote"', "$HOME \\n", "line 1\nline 2\r\n", "#", "'", " x "];
  const variables = values.map((value, at) => ({ key: `KEY_${at}`, value }));
  expect(parseDotenv(dotenvText(variables))).toEqual(variables);
});

test("Node reads the values of a .env file as they are", () => {
  const values = { A: "pa$$w0rd", B: 'say "hi"', C: "C:\\new", D: "two  words ", E: "# none" };
  const text = dotenvText(Object.entries(values).map(([key, value]) => ({ key, value })));
  const program = "console.log(JSON.stringify(util.parseEnv(process.argv[1])))";
  const { stdout } = Bun.spawnSync(["node", "-e", program, text]);
  expect(JSON.parse(stdout.toString())).toEqual(values);
});

test("a comment behind a value is no part of it, and an empty value may have a comment", () => {
  expect(parseDotenv("A= # optional\nB=#fff # a color\nC=\n")).toEqual([
    { key: "A", value: "" },
    { key: "B", value: "#fff" },
    { key: "C", value: "" },
  ]);
});

test("attach finds resources by name", async () => {
  const cache = sampleCache(1);
  const routes = {
    "GET /caches": list(cache),
    [`GET /caches/${cache.id}`]: one(cache),
    [`PATCH ${environmentPath}`]: one(sampleEnvironment()),
  };
  const { stdout } = await run(routes, "attach", "--cache", "sessions");
  expect(bodies).toEqual([{ cache_id: cache.id }]);
  expect(stdout).toBe("production uses no resources.\n");
});

test("attach names the choices of a cluster with several members, and takes one of them", async () => {
  const cluster = { id: "db-0199f0a2-6c3e-7d5b-9a41-000000000001", attributes: { name: "orders" } };
  const databases = ["main", "reports"].map((name, at) => {
    return { id: `schema-0199f0a2-6c3e-7d5b-9a41-00000000000${at}`, attributes: { name } };
  });
  const path = `/databases/clusters/${cluster.id}`;
  const routes = {
    "GET /databases/clusters": list(cluster),
    [`GET ${path}`]: one(cluster),
    [`GET ${path}/databases`]: list(...databases),
    [`GET ${path}/databases/${databases[1]?.id}`]: one(databases[1]),
    [`PATCH ${environmentPath}`]: one(sampleEnvironment()),
  };
  const failure = await failureOf(run(routes, "attach", "--database", "orders"));
  expect(failure?.text).toEndWith("Choose one:\n  --database orders/main\n  --database orders/reports");
  await run(routes, "attach", "--database", "orders/reports");
  expect(bodies).toEqual([{ database_schema_id: databases[1]?.id }]);
});

test("detach takes away only what is named, and is used wrongly without a name", async () => {
  await run(
    { [`PATCH ${environmentPath}`]: one(sampleEnvironment()) },
    "detach",
    "--database",
    "--websocket",
  );
  expect(bodies).toEqual([{ database_schema_id: null, websocket_application_id: null }]);
  const error = await run({}, "detach").catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CommanderError);
  expect(error).toMatchObject({ exitCode: 2 });
});

test("logs without a name are those of the linked environment", async () => {
  const entry = { message: "hello", level: "info", type: "engine", logged_at: "2026-03-15T08:18:00.123Z" };
  const page = () => Response.json({ data: [entry], meta: { cursor: "c", is_complete: true } });
  const { stdout } = await run({ [`GET ${environmentPath}/logs`]: page }, "logs", "--grep", "hello");
  expect(stdout).toBe("2026-03-15 08:18:00.123  info     hello\n");
});

test("--environment takes another environment of the application by its name", async () => {
  const staging = sampleEnvironment({ name: "staging" });
  await run(
    { [`GET /applications/${APPLICATION_ID}/environments`]: list(staging) },
    "open",
    "--environment",
    "staging",
  );
  expect(requests).toContain(`GET /applications/${APPLICATION_ID}/environments`);
});
