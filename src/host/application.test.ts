// The host with real applications: Node.js, Bun and a static site, from a build to an answer, a change and a removal.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ApplicationHost, applicationSpec } from "../../tests/support/applications/host.ts";
import { until } from "../../tests/support/pilvi/pilvi.ts";
import { isAlive } from "../../tests/support/pilvi/processes.ts";
import type { ApplicationSpec } from "../contracts/instance-spec.ts";
import { instanceFolder } from "./os/layout.ts";
import { holdersOf } from "./os/locks.ts";
import { ADOPTION_MS } from "./test-support.ts";

let host: ApplicationHost;

beforeAll(async () => {
  host = new ApplicationHost({ adoptionMs: ADOPTION_MS });
  await host.start();
});

afterAll(() => host.close());

const SERVER = `
const { createServer } = require("node:http");
const { writeFileSync } = require("node:fs");
process.on("SIGTERM", () => { console.log("ending well"); process.exit(0); });
createServer((request, response) => {
  if (request.url === "/crash") process.exit(7);
  if (request.url === "/fail") { response.statusCode = 500; console.log("no key\\n#0 /app/a.php(3): a()"); }
  const tried = (() => { try { writeFileSync("/app/x", "x"); return "written"; } catch (error) { return error.code; } })();
  response.end(JSON.stringify({ uid: process.getuid(), secret: process.env.SECRET, tried, runs: process.versions.bun ? "bun" : "node" }));
}).listen(process.env.PORT, process.env.HOST);
console.log("listening");
`;

const FAILS =
  /^The application did not answer \/fail with a status below 500 within 10 s\. Its last lines:\n(?:.+\n)*no key$/;

async function released(files: Record<string, string>): Promise<string> {
  const build = await host.build({}, files);
  expect(build.failure).toBeNull();
  return build.id;
}

async function answerOf({ exposure }: ApplicationSpec, path = "/"): Promise<Response> {
  return await fetch(`http://127.0.0.1:${exposure.port}${path}`);
}

test.each(["node", "bun"] as const)(
  "an application on %s runs, is changed, restarted and removed",
  async (name) => {
    const release = await released({ "server.js": SERVER });
    const runtime = name === "node" ? ({ name, version: "24" } as const) : ({ name } as const);
    const command = `${name} server.js`;
    const spec = applicationSpec({ release, runtime, command, variables: { SECRET: "first" } });
    expect(await host.host.ensure(spec)).toMatchObject({ state: "running", lastError: null });
    const answer = JSON.parse(await (await answerOf(spec)).text());
    expect(answer).toMatchObject({ secret: "first", tried: "EROFS", runs: name });
    expect(answer.uid).toBeGreaterThan(0);

    const changed = { ...spec, variables: { SECRET: "second" } };
    expect(await host.host.ensure(changed)).toMatchObject({ state: "running", lastError: null });
    expect(await (await answerOf(spec)).json()).toMatchObject({ secret: "second", uid: answer.uid });
    const log = await Bun.file(instanceFolder(host.dataDir, spec.id).log).text();
    expect(log).toContain("ending well");
    expect(log).not.toContain("second");

    await answerOf(spec, "/crash").catch(() => undefined);
    await until("it runs again", () => {
      const { crashes, state } = host.host.observe(spec.id);
      return crashes === 1 && state === "running";
    });
    expect((await answerOf(spec)).status).toBe(200);

    const pids = holdersOf(instanceFolder(host.dataDir, spec.id).lock);
    expect(pids).not.toEqual([]);
    await expect(host.host.builds.removeRelease(release)).rejects.toThrow("in use");
    await host.host.remove(spec.id);
    expect(pids.filter(isAlive)).toEqual([]);
    await host.host.builds.removeRelease(release);
  },
);

test("a build and an application find the names of their user and their group", async () => {
  const names = "id --user --name && id --group --name";
  const build = await host.build({ steps: [{ name: "build", command: names }] }, { "server.js": SERVER });
  expect(build.failure).toBeNull();
  expect((await host.texts(build.id)).slice(0, 2)).toEqual(["app", "app"]);
  const spec = applicationSpec({
    release: build.id,
    command: `${names} && exec bun server.js`,
    variables: { SECRET: "first" },
    credentials: ["SECRET"],
  });
  expect(await host.host.ensure(spec)).toMatchObject({ state: "running", lastError: null });
  const { log, conf, lock } = instanceFolder(host.dataDir, spec.id);
  expect(await Bun.file(log).text()).toContain("\napp\napp\n");
  // An application that an earlier Pilvi started has no file of groups yet, which is no reason to start it again.
  const [file, pids] = [join(conf, "group"), holdersOf(lock)];
  rmSync(file);
  await host.host.ensure({ ...spec, variables: { SECRET: "second" } });
  expect([existsSync(file), holdersOf(lock)]).toEqual([true, pids]);
});

test("the next host finds a running application, and stops it cleanly", async () => {
  const release = await released({ "server.js": SERVER });
  const spec = applicationSpec({ release });
  await host.host.ensure(spec);
  const { lock, log } = instanceFolder(host.dataDir, spec.id);
  const pids = holdersOf(lock);
  await host.restart();
  expect(host.host.observe(spec.id)).toMatchObject({ state: "running", crashes: 0 });
  expect(holdersOf(lock)).toEqual(pids);
  expect((await answerOf(spec)).status).toBe(200);
  await host.host.ensure({ ...spec, variables: { A: "a" } });
  expect(await Bun.file(log).text()).toContain("ending well");
  await host.host.remove(spec.id);
});

test("a shell command gets its signal, and what it leaves running ends with it", async () => {
  const release = await released({ "server.js": SERVER });
  const spec = applicationSpec({ release, command: "setsid sleep 997 & MODE=a bun server.js && true" });
  expect(await host.host.ensure(spec)).toMatchObject({ state: "running", lastError: null });
  const { lock, log } = instanceFolder(host.dataDir, spec.id);
  const pids = holdersOf(lock);
  await host.host.ensure({ ...spec, command: "bun server.js" });
  expect(await Bun.file(log).text()).toContain("ending well");
  expect(pids.filter(isAlive)).toEqual([]);
  await host.host.remove(spec.id);
});

test("an application that ends, hangs or answers with errors has failed, with its last lines", async () => {
  const release = await released({ "server.js": SERVER });
  const command = String.raw`printf '\033[31mno database\033[39m here\n'; exit 3`;
  const ends = applicationSpec({ release, command });
  expect(await host.host.ensure(ends)).toMatchObject({
    state: "failed",
    lastError: expect.stringContaining("no database here"),
  });
  const fails = applicationSpec({ release, healthPath: "/fail", startTimeoutSeconds: 10 });
  const { state, lastError } = await host.host.ensure(fails);
  expect([state, lastError]).toEqual(["failed", expect.stringMatching(FAILS)]);
  await Promise.all([host.host.remove(ends.id), host.host.remove(fails.id)]);
});

test("the reason of an application that writes much before it ends has the end of its output", async () => {
  const line = `console.error("a long line of a program that starts: ${"x".repeat(150)}");`;
  const end = `console.error("FATAL: the real reason is here"); process.exit(1);`;
  const release = await released({ "server.js": `${line.repeat(4)} ${end}` });
  const spec = applicationSpec({ release, command: "node server.js" });
  const { state, lastError } = await host.host.ensure(spec);
  expect(state).toBe("failed");
  expect(lastError).toStartWith("The application ended before it was ready. Its last lines:\n");
  expect(lastError).toEndWith("\nFATAL: the real reason is here");
  await host.host.remove(spec.id);
});

test("an application that listens at another port has failed, with the name of the right one", async () => {
  const release = await released({ "other.sh": "echo listening on 3000; sleep 996" });
  const spec = applicationSpec({ release, command: "sh other.sh", healthPath: "/", startTimeoutSeconds: 5 });
  const { state, lastError } = await host.host.ensure(spec);
  expect(state).toBe("failed");
  expect(lastError).toStartWith(
    `Nothing listens at 127.0.0.1 at the port that the variable PORT names (${spec.exposure.port}) after 5 s.`,
  );
  expect(lastError).toEndWith("Its last lines:\nlistening on 3000");
  await host.host.remove(spec.id);
});

test("a process without a port counts as running once it goes on, and is started again when it ends", async () => {
  const release = await released({ "work.sh": 'echo "port $PORT"; sleep 997' });
  const exposure = { port: null, scope: "loopback", through: "engine" } as const;
  const spec = { ...applicationSpec({ release, command: "sh work.sh" }), exposure };
  expect(await host.host.ensure(spec)).toMatchObject({ state: "running", lastError: null });
  const { lock, log } = instanceFolder(host.dataDir, spec.id);
  await until("it has written", async () => (await Bun.file(log).text()).includes("port \n"));
  for (const pid of holdersOf(lock)) process.kill(pid, "SIGKILL");
  await until("it runs again", () => {
    const { crashes, state } = host.host.observe(spec.id);
    return crashes === 1 && state === "running";
  });
  await host.host.ensure({ ...spec, command: "echo no queue; exit 1" });
  // On a busy machine it may take so long to end that it counted as running for a while.
  await until("it has failed", () => {
    const { state, lastError } = host.host.observe(spec.id);
    return state === "failed" && lastError?.includes("no queue") === true;
  });
  await host.host.remove(spec.id);
});

test("a static site has its files, its fallback, and nothing else", async () => {
  const release = await released({
    "dist/index.html": "<h1>home</h1>",
    "dist/about.html": "about",
    "dist/.env": "SECRET=1",
    "private.txt": "private",
  });
  const runtime = { name: "static", folder: "dist", fallback: null } as const;
  const spec = applicationSpec({ release, runtime, command: null });
  expect(await host.host.ensure(spec)).toMatchObject({ state: "running", lastError: null });
  const home = await answerOf(spec);
  expect([await home.text(), home.headers.get("content-type")]).toEqual(["<h1>home</h1>", "text/html"]);
  expect(await (await answerOf(spec, "/about")).text()).toBe("about");
  expect((await answerOf(spec, "/.env")).status).toBe(404);
  expect((await answerOf(spec, "/..%2fprivate.txt")).status).toBeGreaterThanOrEqual(400);
  expect((await answerOf(spec, "/missing")).status).toBe(404);
  const single = { ...spec, runtime: { ...runtime, fallback: "index.html" } };
  await host.host.ensure(single);
  expect(await (await answerOf(spec, "/missing")).text()).toBe("<h1>home</h1>");
  await host.host.remove(spec.id);
});
