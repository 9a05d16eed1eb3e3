// `pilvi init` and `pilvi deploy` against a server that speaks the documented shapes.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  badGateway,
  refused,
  bodies,
  closeServers,
  failureOf,
  list,
  one,
  requests,
  serve,
  serveWith,
} from "../test-server.ts";
import { fakeIo, runCommand } from "../test-support.ts";
import {
  APPLICATION_ID,
  deploymentId,
  ENVIRONMENT_ID,
  environmentPath,
  link,
  sampleApplication,
  sampleDeployment,
  sampleEnvironment,
  sampleLog,
  URL_OF_IT,
} from "./test-support.ts";
import { siteFolder } from "./test-site.ts";

const application = sampleApplication();
const applicationPath = `/applications/${APPLICATION_ID}`;
const pending = sampleDeployment(1, { status: "pending" });
const deploymentPath = `/deployments/${deploymentId(1)}`;
const step = { step: "build", description: "npm run build\nnpm test", status: "running" as const };

let folder: ReturnType<typeof siteFolder>;

beforeEach(() => {
  folder = siteFolder();
});

afterEach(async () => {
  folder.remove();
  await closeServers();
});

/** The answers of a deployment that succeeds after two readings of its log. */
function routes(): Parameters<typeof serve>[0] {
  const log = [
    sampleLog("build.running", [{ ...step, output: "\u001B[32mbuilding\u001B[0m\nhalf" }]),
    sampleLog("deployment.succeeded", [
      {
        ...step,
        status: "finished",
        output: "\u001B[32mbuilding\u001B[0m\nhalf a line\n",
        duration_ms: 1234,
      },
    ]),
  ];
  return {
    [`GET ${environmentPath}`]: one(sampleEnvironment()),
    [`POST ${environmentPath}/uploads`]: one(pending, 201),
    [`GET ${deploymentPath}/logs`]: log,
    [`GET ${deploymentPath}`]: one(sampleDeployment(1)),
  };
}

test("init creates an application named after the folder, links it, and has git ignore the link", async () => {
  writeFileSync(join(folder.path, ".gitignore"), "node_modules");
  const url = serve({
    "GET /applications": list(),
    "POST /applications": one(application, 201),
    [`GET ${applicationPath}`]: one(application),
  });
  const io = fakeIo({ folder: folder.path });
  await runCommand(io, url, "init");
  expect(bodies).toEqual([{ name: "Web shop", region: "us-east-1" }]);
  expect(JSON.parse(readFileSync(join(folder.path, ".pilvi/project.json"), "utf8"))).toEqual({
    url,
    application_id: APPLICATION_ID,
    environment_id: ENVIRONMENT_ID,
  });
  expect(readFileSync(join(folder.path, ".gitignore"), "utf8")).toBe("node_modules\n.pilvi/\n");
  expect(io.stdout).toContain(`git remote add pilvi ${url}/git/web-shop.git`);
  const again = fakeIo({ folder: folder.path });
  await runCommand(again, url, "init");
  expect(again.stdout).toStartWith(`${folder.path} is linked to the application Web shop already.`);
  expect(bodies).toHaveLength(1);
});

test("init takes an application that exists, and asks about a name that nobody gave", async () => {
  const url = serve({ "GET /applications": list(application), [`GET ${applicationPath}`]: one(application) });
  for (const answer of ["n", null]) {
    const io = fakeIo({ folder: folder.path, isInputTerminal: true, ask: async () => answer });
    expect((await failureOf(runCommand(io, url, "init")))?.text).toStartWith("Nothing was linked.");
  }
  await runCommand(fakeIo({ folder: folder.path }), url, "init", "Web shop");
  expect(requests).not.toContain("POST /applications");
});

test("a link of another Pilvi is not used", async () => {
  link(folder.path, "http://elsewhere.example");
  const failure = await failureOf(runCommand(fakeIo({ folder: folder.path }), serve({}), "deploy"));
  expect(failure?.text).toContain("linked to the Pilvi at http://elsewhere.example");
  expect(requests).toEqual([]);
});

test("deploy uploads the folder, prints whole lines of output once, and ends with the address", async () => {
  const url = serve(routes());
  link(folder.path, url);
  const io = fakeIo({ folder: join(folder.path) });
  await runCommand(io, url, "deploy");
  expect(io.stdout).toBe(`${URL_OF_IT}\n`);
  expect(io.stderr).toContain("Uploading 1 file (5 bytes)\n");
  expect(io.stderr).toContain(
    "build: npm run build (and 1 more)\n  building\n  half a line\n  done in 1.2 s\n",
  );
});

test("deploy says which submodule it leaves out", async () => {
  const url = serve(routes());
  link(folder.path, url);
  const entry = `160000,${"1".repeat(40)},theme`;
  for (const args of [
    ["init", "--quiet"],
    ["update-index", "--add", "--cacheinfo", entry],
  ])
    expect(Bun.spawnSync(["git", ...args], { cwd: folder.path }).exitCode).toBe(0);
  mkdirSync(join(folder.path, "theme"));
  const io = fakeIo({ folder: folder.path });
  await runCommand(io, url, "deploy");
  expect(io.stderr).toContain("theme is left out: git does not list its files.");
});

test("deploy links a folder first, and asks nothing where nobody can be asked", async () => {
  const url = serve({
    ...routes(),
    "GET /applications": list(),
    "POST /applications": one(application, 201),
  });
  const io = fakeIo({ folder: folder.path });
  await runCommand(io, url, "deploy");
  expect(io.stderr).toContain("to the new application Web shop");
  expect(io.stdout).toBe(`${URL_OF_IT}\n`);
});

test("the archive has the files, and the request the message", async () => {
  let archive: ArrayBuffer | undefined;
  let search = "";
  const url = serveWith(async (request) => {
    if (request.method === "GET") return one(sampleEnvironment())();
    search = new URL(request.url).search;
    archive = await request.arrayBuffer();
    return one(pending, 201)();
  });
  link(folder.path, url);
  const io = fakeIo({ folder: folder.path });
  await runCommand(io, url, "deploy", "--no-wait", "--message", "Fix it");
  expect(search).toBe("?message=Fix+it");
  const files = await new Bun.Archive(new Uint8Array(archive ?? new ArrayBuffer())).files();
  expect([...files.keys()]).toEqual(["index.html"]);
  expect(io.stdout).toBe(`${deploymentId(1)}\n`);
});

test("a failed deployment ends with 1 and its reason; --json prints the document besides", async () => {
  const failed = sampleDeployment(1, {
    status: "build.failed",
    failure_reason: "npm ended with 1.\nlast line",
  });
  const url = serve({
    ...routes(),
    [`GET ${deploymentPath}/logs`]: sampleLog("build.failed"),
    [`GET ${deploymentPath}`]: one(failed),
  });
  link(folder.path, url);
  const io = fakeIo({ folder: folder.path });
  const failure = await failureOf(runCommand(io, url, "deploy", "--json"));
  expect(failure).toEqual({
    text: "The deployment failed (build.failed).\nnpm ended with 1.\nlast line",
    exitCode: 1,
  });
  expect(JSON.parse(io.stdout)).toEqual({ data: failed });
});

test("Ctrl-C leaves the deployment going, and says how to follow and how to end it", async () => {
  const io = fakeIo({ folder: folder.path });
  const url = serve({
    ...routes(),
    [`GET ${deploymentPath}/logs`]: () => {
      io.interrupt();
      return sampleLog("build.running")();
    },
  });
  link(folder.path, url);
  const failure = await failureOf(runCommand(io, url, "deploy"));
  expect(failure?.exitCode).toBe(130);
  expect(failure?.text).toContain(`pilvi deployments ${deploymentId(1)} --follow`);
  expect(failure?.text).toContain("pilvi stop");
});

test("deploy outlasts an absence of Pilvi, also between the end and the address", async () => {
  const environment = one(sampleEnvironment());
  const url = serve({
    ...routes(),
    [`GET ${environmentPath}`]: [environment, badGateway, environment],
    [`GET ${deploymentPath}/logs`]: [
      sampleLog("build.running"),
      badGateway,
      badGateway,
      sampleLog("deployment.succeeded"),
    ],
    [`GET ${deploymentPath}`]: [badGateway, one(sampleDeployment(1))],
  });
  link(folder.path, url);
  const io = fakeIo({ folder: folder.path });
  await runCommand(io, url, "deploy");
  expect(io.stdout).toBe(`${URL_OF_IT}\n`);
});

test("a deployment that cannot be followed any more is named", async () => {
  const url = serve({ ...routes(), [`GET ${deploymentPath}/logs`]: [sampleLog("build.running"), refused] });
  link(folder.path, url);
  const failure = await failureOf(runCommand(fakeIo({ folder: folder.path }), url, "deploy"));
  expect(failure).toEqual({
    text: `Pilvi does not accept this token: It was revoked. Set PILVI_TOKEN to another: the console or \`pilvi token create\` makes one.\nThe deployment goes on. Follow it with: pilvi deployments ${deploymentId(1)} --follow`,
    exitCode: 1,
  });
});

test.each([
  ["a build", null, /Note: The process worker sleeps\.\nDeployed in .*\n$/],
  ["a rollback, which has said them before,", deploymentId(2), /done in 1\.2 s\nDeployed in .*\n$/],
])("the end of %s has the notes of its plan or none", async (_what, releaseOf, end) => {
  const sample = sampleDeployment(1, {}, releaseOf);
  const ended = { ...sample, meta: { ...sample.meta, plan: { notes: ["The process worker sleeps."] } } };
  const url = serve({ ...routes(), [`GET ${deploymentPath}`]: one(ended) });
  link(folder.path, url);
  const io = fakeIo({ folder: folder.path });
  await runCommand(io, url, "deploy");
  expect(io.stderr).toMatch(end);
});

test("a file that cannot be read ends the upload before Pilvi has the whole of it", async () => {
  const statuses: string[] = [];
  const url = serveWith(async (request) => {
    if (request.method === "GET") return one(sampleEnvironment())();
    statuses.push(
      await request.arrayBuffer().then(
        () => "whole",
        () => "broken",
      ),
    );
    return one(pending, 201)();
  });
  link(folder.path, url);
  const vanishing = join(folder.path, "vanishing");
  writeFileSync(vanishing, "x");
  const io = fakeIo({
    folder: folder.path,
    err: (text) => {
      if (text.startsWith("Uploading")) unlinkSync(vanishing);
    },
  });
  const failure = await failureOf(runCommand(io, url, "deploy"));
  expect(failure?.text).toStartWith("The folder could not be packed: vanishing: ");
  expect(statuses).not.toContain("whole");
});

test("the home folder, where Pilvi may keep its data, is never linked", async () => {
  const failure = await failureOf(runCommand(fakeIo({ folder: homedir() }), serve({}), "init", "shop"));
  expect(failure?.text).toEndWith(" cannot be an application. Go to the folder of your program.");
  expect(requests).toEqual([]);
});
