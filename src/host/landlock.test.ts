// Applications, builds and commands in the sandbox by Landlock, as on a machine where bubblewrap does not work.
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ApplicationHost, applicationSpec } from "../../tests/support/applications/host.ts";
import { ALLOWED, intrude, type Outcomes, type Role } from "../../tests/support/applications/intruder.ts";
import { sandboxByLandlock } from "../../tests/support/applications/landlock.ts";
import { routeOf } from "../../tests/support/engines/lone-edge.ts";
import { freshDataDir, until } from "../../tests/support/pilvi/pilvi.ts";
import { freePort } from "../../tests/support/pilvi/ports.ts";
import { isAlive } from "../../tests/support/pilvi/processes.ts";
import { IS_ROOT } from "../../tests/support/pilvi/program.ts";
import { loadConfig } from "../config.ts";
import type { ApplicationSpec } from "../contracts/instance-spec.ts";
import { toolsDir } from "../engines/tools/tools.ts";
import { specsOf } from "../drivers/test-support.ts";
import { instanceFolder } from "./os/layout.ts";
import { holdersOf } from "./os/locks.ts";

const ORDINARY_USER = 64_110;
const ORDINARY_HOST = resolve(import.meta.dir, "../../tests/support/applications/ordinary-host.ts");

const SERVER = `
const { createServer } = require("node:http");
const { tmpdir } = require("node:os");
process.on("SIGTERM", () => { console.log("ending well"); process.exit(0); });
createServer((request, response) => {
  require("node:fs").writeFileSync(tmpdir() + "/seen", "seen");
  response.end(JSON.stringify({ word: process.env.WORD, runs: process.versions.bun ? "bun" : "node" }));
}).listen(process.env.PORT, process.env.HOST);
`;

let host: ApplicationHost;
let release: string;

beforeAll(async () => {
  host = new ApplicationHost({ sandbox: sandboxByLandlock() });
  await host.start();
  const tool = "#!/bin/sh\necho the tool of the release\n";
  const command = "chmod +x node_modules/.bin/tool; tool; touch built";
  const files = { "server.js": SERVER, "node_modules/.bin/tool": tool, "dist/index.html": "home" };
  const build = await host.build({ steps: [{ name: "build", command }] }, files);
  expect(build).toMatchObject({ failure: null, isolation: "landlock" });
  expect(await host.texts(build.id)).toEqual(["the tool of the release"]);
  release = build.id;
});

afterAll(() => host.close());

async function started(changes: Partial<ApplicationSpec> = {}): Promise<ApplicationSpec> {
  const spec = applicationSpec({ release, variables: { WORD: "it's" }, ...changes });
  expect(await host.host.ensure(spec)).toMatchObject({
    state: "running",
    lastError: null,
    isolation: "landlock",
  });
  return spec;
}

function pidsOf({ id }: ApplicationSpec): number[] {
  return holdersOf(instanceFolder(host.dataDir, id).lock);
}

async function answerOf({ exposure }: ApplicationSpec): Promise<string> {
  return await (await fetch(`http://127.0.0.1:${exposure.port}/`)).text();
}

/** The attempts of an intruder that the sandbox did not answer as it must. */
function holesOf(all: Record<Role, Outcomes>): string[] {
  return Object.entries(all).flatMap(([role, outcomes]) =>
    Object.entries(outcomes)
      .filter(([name, outcome]) => (outcome === "done") !== ALLOWED.includes(name))
      .map(([name, outcome]) => `${role}: ${name}: ${outcome}`),
  );
}

test.each([
  ["bun", { name: "bun" }],
  ["node", { name: "node", version: "24" }],
] as const)("an application on %s serves, and ends well", async (name, runtime) => {
  const spec = await started({ runtime, command: `${name} server.js` });
  expect(JSON.parse(await answerOf(spec))).toEqual({ word: "it's", runs: name });
  await host.host.remove(spec.id);
});

test("a static site is served", async () => {
  const runtime = { name: "static", folder: "dist", fallback: null } as const;
  const spec = await started({ runtime, command: null });
  expect(await answerOf(spec)).toBe("home");
  await host.host.remove(spec.id);
});

test("a command sees the release and its variables, and changes nothing of it", async () => {
  const command = 'set +e; tool; echo "$WORD"; touch built new 2>/dev/null || echo refused; pwd';
  const steps = [{ name: "command", command }];
  const run = await host.runIn(release, { steps, variables: { WORD: "word" } });
  expect(run).toMatchObject({ state: "succeeded", isolation: "landlock" });
  const app = join(host.dataDir, "releases", release, "app");
  expect(await host.texts(run.id)).toEqual(["the tool of the release", "word", "refused", app]);
});

test("the launcher becomes the application, which the next host finds", async () => {
  const spec = await started();
  const pids = pidsOf(spec);
  expect(pids.map((pid) => readlinkSync(`/proc/${pid}/exe`))).toEqual([process.execPath]);
  expect(readFileSync(`/proc/${pids[0]}/status`, "utf8")).toMatch(/^NoNewPrivs:\t1$/m);
  await host.restart();
  await until("it is taken up", () => host.host.observe(spec.id).state === "running");
  expect(host.host.observe(spec.id).crashes).toBe(0);
  expect(pidsOf(spec)).toEqual(pids);
  expect(JSON.parse(await answerOf(spec))).toMatchObject({ word: "it's" });
  await host.host.remove(spec.id);
});

test("a shell command gets its signal, and what it leaves running ends with it", async () => {
  const spec = await started({ command: "setsid sleep 989 & MODE=a bun server.js && true" });
  await until("all are there", () => pidsOf(spec).length >= 3);
  const pids = pidsOf(spec);
  await host.host.remove(spec.id);
  expect(pids.filter(isAlive)).toEqual([]);
});

test("an idle application sleeps, and a request wakes it", async () => {
  const port = freePort();
  const edge = specsOf(port).haproxy;
  if (edge === undefined) throw new Error("there is a spec of the edge");
  expect(await host.host.ensure(edge)).toMatchObject({ state: "running", lastError: null });
  const spec = await started({ sleepAfterSeconds: 3 });
  await host.host.edge.ensure(routeOf("env", ["a.localhost"], spec.id));
  await until("it is asleep", () => host.host.observe(spec.id).state === "asleep");
  expect(pidsOf(spec)).toEqual([]);
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    keepalive: false,
    headers: { host: "a.localhost" },
  });
  const answer = { status: response.status, text: await response.text() };
  expect(answer).toEqual({ status: 200, text: expect.stringContaining(`"word":"it's"`) });
  expect(host.host.observe(spec.id).sleep).toMatchObject({ state: "awake", wakes: 1 });
  await host.host.edge.remove("env");
  await host.host.remove(spec.id);
});

test("an application that sets variables of the launcher harms nothing but itself", async () => {
  const variables = { PERL5OPT: "-MNothing", PERL5LIB: "/nothing", LD_PRELOAD: "/nothing.so" };
  const build = await host.build({ steps: [{ name: "build", command: "env" }], variables }, {});
  expect(build).toMatchObject({ state: "succeeded", isolation: "landlock" });
  const spec = await started({ variables });
  await host.host.remove(spec.id);
});

test("a hostile process opens nothing of Pilvi, of other environments, or of the machine", async () => {
  const elsewhere = join(freshDataDir(), "elsewhere");
  try {
    const all = await intrude(host, elsewhere);
    // The host's sockets are closed to other users by their modes; this one is open.
    if (IS_ROOT) for (const outcomes of Object.values(all)) delete outcomes["socket of Pilvi"];
    expect(holesOf(all)).toEqual([]);
    expect(Object.keys(all.application).length).toBeGreaterThan(20);
  } finally {
    rmSync(join(elsewhere, ".."), { recursive: true, force: true });
  }
});

test.if(IS_ROOT)("nor does it where an ordinary user runs the host, whose user it shares", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pilvi-ordinary-"));
  try {
    chmodSync(folder, 0o711);
    chownSync(folder, ORDINARY_USER, ORDINARY_USER);
    const [dataDir, enginesDir] = [join(folder, "data"), join(folder, "engines")];
    for (const path of [dataDir, enginesDir]) {
      mkdirSync(path);
      chownSync(path, ORDINARY_USER, ORDINARY_USER);
    }
    symlinkSync(toolsDir(loadConfig(process.env).enginesDir), toolsDir(enginesDir));
    const child = Bun.spawn([process.execPath, ORDINARY_HOST, dataDir, join(folder, "elsewhere")], {
      cwd: "/",
      env: { PATH: process.env.PATH ?? "", HOME: folder, PILVI_ENGINES_DIR: enginesDir },
      stdio: ["ignore", "pipe", "pipe"],
      uid: ORDINARY_USER,
      gid: ORDINARY_USER,
    });
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect([await child.exited, stderr]).toEqual([0, ""]);
    expect(holesOf(JSON.parse(stdout) as Record<Role, Outcomes>)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
