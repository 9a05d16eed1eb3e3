// `pilvi deploy --plan` against a server that speaks the documented shapes: in folders with and without a link.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { closeServers, failureOf, list, one, requests, serve } from "../test-server.ts";
import { fakeIo, runCommand } from "../test-support.ts";
import {
  APPLICATION_ID,
  deploymentId,
  environmentPath,
  link,
  sampleApplication,
  sampleDeployment,
  sampleEnvironment,
  sampleLog,
} from "./test-support.ts";
import { siteFolder } from "./test-site.ts";

const application = sampleApplication();
const applicationPath = `/applications/${APPLICATION_ID}`;

let folder: ReturnType<typeof siteFolder>;

beforeEach(() => {
  folder = siteFolder();
});

afterEach(async () => {
  folder.remove();
  await closeServers();
});

const plan = {
  id: "4f0c9a1",
  type: "plans",
  attributes: {
    root_directory: "",
    language: "javascript",
    framework: "express",
    runtime: { name: "node", version: "24.11.0", origin: "default" },
    tools: [],
    install: commands("npm ci"),
    build: commands("npm run build", "npm run more"),
    deploy: commands(),
    start: { command: "npm start", origin: "package.json: scripts.start" },
    processes: [],
    serving: { mode: "process", root: null, fallback: false, origin: "default" },
    port: { value: null, origin: "default" },
    health_path: { value: "/", origin: "default" },
    notes: ["The Dockerfile is not used."],
  },
};

test("deploy --plan prints each part with its origin, and deploys nothing", async () => {
  const url = serve({
    [`GET ${environmentPath}`]: one(sampleEnvironment()),
    [`POST ${environmentPath}/plans`]: one(plan),
  });
  link(folder.path, url);
  const io = fakeIo({ folder: folder.path });
  await runCommand(io, url, "deploy", "--plan");
  expect(io.stdout).toMatch(/^Runtime {7}node 24\.11\.0 {3}default$/m);
  expect(io.stdout).toMatch(/^Build {9}npm run build {2}package\.json\n {14}npm run more$/m);
  expect(io.stdout).toEndWith("Note: The Dockerfile is not used.\n");
  expect(requests).not.toContain(`POST ${environmentPath}/uploads`);
});

test("deploy --plan makes no application for a folder that is not linked, and links it to none", async () => {
  const url = serve({ "GET /applications": list(), "POST /plans": one(plan) });
  const io = fakeIo({ folder: folder.path, isInputTerminal: true });
  await runCommand(io, url, "deploy", "--plan");
  expect(io.stdout).toEndWith("Note: The Dockerfile is not used.\n");
  expect(io.stderr).toContain("not linked to an application. The plan is that of a new application.\n");
  expect(requests.filter((each) => !each.startsWith("GET"))).toEqual(["POST /plans"]);
  expect(existsSync(join(folder.path, ".pilvi"))).toBe(false);
  const failure = await failureOf(runCommand(io, url, "deploy", "--plan", "--environment", "staging"));
  expect(failure?.text).toEndWith("so it has no environment staging. Link it with: pilvi init");
});

test("deploy --plan in a folder with the name of an application has its settings, without a link", async () => {
  const url = serve({
    "GET /applications": list(application),
    [`GET ${applicationPath}`]: one(application),
    [`GET ${environmentPath}`]: one(sampleEnvironment()),
    [`POST ${environmentPath}/plans`]: one(plan),
  });
  const io = fakeIo({ folder: folder.path });
  await runCommand(io, url, "deploy", "--plan");
  expect(io.stderr).toContain(`The plan is that of the application Web shop (${APPLICATION_ID}).\n`);
  expect(io.stdout).toEndWith("Note: The Dockerfile is not used.\n");
  expect(existsSync(join(folder.path, ".pilvi"))).toBe(false);
});

test.each([
  [
    "asks for PHP 9. To use one of them, set php_version, or change the file.",
    "production --php-version VERSION",
  ],
  [
    "For a site of files, set serving_root to the folder that its build makes.",
    "production --serving-root FOLDER",
  ],
])("a refusal that says %j names the command", async (sentence, command) => {
  const refused = () => Response.json({ message: "x", errors: { source: [sentence] } }, { status: 422 });
  const url = serve({
    "GET /applications": list(),
    "POST /plans": refused,
    [`GET ${environmentPath}`]: one(sampleEnvironment()),
    [`POST ${environmentPath}/plans`]: refused,
  });
  const refusal = () => failureOf(runCommand(fakeIo({ folder: folder.path }), url, "deploy", "--plan"));
  expect((await refusal())?.text).toBe(
    `source: ${sentence}\nSet it with: pilvi init, and then: pilvi environments update ${command}`,
  );
  link(folder.path, url);
  expect((await refusal())?.text).toEndWith(`\nSet it with: pilvi environments update ${command}`);
});

test("a refusal with two ways out names both commands", async () => {
  const sentence =
    "It does not say how it starts; set start_command. For a site of files, set serving_root to them.";
  const url = serve({
    [`GET ${environmentPath}`]: one(sampleEnvironment()),
    [`POST ${environmentPath}/plans`]: () =>
      Response.json({ message: "x", errors: { source: [sentence] } }, { status: 422 }),
  });
  link(folder.path, url);
  const failure = await failureOf(runCommand(fakeIo({ folder: folder.path }), url, "deploy", "--plan"));
  expect(failure?.text.split("\n").slice(1)).toEqual([
    "Set it with: pilvi environments update production --start-command COMMAND",
    "or with: pilvi environments update production --serving-root FOLDER",
  ]);
});

test("a deployment that lacks its folder names the command as well", async () => {
  const reason = "There is no application at the top of the repository; set root_directory to its folder.";
  const failed = sampleDeployment(1, { status: "failed", failure_reason: reason });
  const url = serve({
    [`GET ${environmentPath}`]: one(sampleEnvironment()),
    [`POST ${environmentPath}/uploads`]: one(sampleDeployment(1, { status: "pending" }), 201),
    [`GET /deployments/${deploymentId(1)}/logs`]: sampleLog("failed"),
    [`GET /deployments/${deploymentId(1)}`]: one(failed),
  });
  link(folder.path, url);
  const failure = await failureOf(runCommand(fakeIo({ folder: folder.path }), url, "deploy"));
  expect(failure?.text).toEndWith(`${reason}\nSet it with: pilvi apps set-root ${APPLICATION_ID} FOLDER`);
});

function commands(...lines: string[]) {
  return { commands: lines, directory: "", origin: "package.json" };
}
