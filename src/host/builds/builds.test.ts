// Builds with real programs: sources unpacked, packages installed, releases made, and builds ended in every way.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ApplicationHost, buildSpec, tarOf, testId } from "../../../tests/support/applications/host.ts";
import { startRegistry, type TestRegistry } from "../../../tests/support/applications/registry.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { localDriver } from "../../drivers/local/index.ts";
import { cacheSpec } from "../../drivers/test-support.ts";
import { createLog } from "../../lib/log.ts";
import { serveHost } from "../server.ts";
import { releaseApp } from "../os/layout.ts";

const MIB = 1024 ** 2;

let host: ApplicationHost;
let registry: TestRegistry;
/** The instance that has the port of the registry. */
let registryId: string;

beforeAll(async () => {
  host = new ApplicationHost();
  await host.start();
  registry = startRegistry(["ms"]);
  // The registry answers at the port of a cache whose gateway does not run.
  const port = Number(new URL(registry.url).port);
  const cache = cacheSpec(port, "a password", { exposure: { port, scope: "loopback", through: "gateway" } });
  await host.host.ensure(cache);
  registryId = cache.id;
});

afterAll(async () => {
  await host.close();
  await registry.close();
});

function installed(runtime: "node" | "bun") {
  const install = runtime === "node" ? "npm install" : "bun install";
  return {
    runtime: runtime === "node" ? ({ name: "node", version: "24" } as const) : ({ name: "bun" } as const),
    steps: [
      { name: "install", command: install },
      {
        name: "build",
        command: `${runtime} -e 'console.log("in days: " + require("ms")(172800000))' > out.txt`,
      },
    ],
    variables: { npm_config_registry: registry.url, BUN_CONFIG_REGISTRY: registry.url },
    // A build reaches no service of its machine that nobody has named.
    reaches: [registryId],
  };
}

test.each(["node", "bun"] as const)("a build on %s installs a package and uses it", async (runtime) => {
  const build = await host.build(installed(runtime), {
    "package.json": JSON.stringify({ private: true, dependencies: { ms: "*" } }),
  });
  expect([build.failure, await host.texts(build.id)]).toEqual([null, expect.anything()]);
  expect(build).toMatchObject({ state: "succeeded", isolation: "bubblewrap" });
  expect(build.steps.map(({ name, exitCode }) => [name, exitCode])).toEqual([
    ["source", 0],
    ["install", 0],
    ["build", 0],
    ["release", 0],
  ]);
  const app = releaseApp(host.dataDir, build.id);
  expect(readFileSync(join(app, "out.txt"), "utf8")).toBe("in days: 2d\n");
  expect(host.host.builds.release(build.id)).toMatchObject({ id: build.id, environment: "env-test" });
  expect(statSync(join(app, "..")).mode & 0o777).toBe(0o750);
});

function stepWith(command: string) {
  return { steps: [{ name: "build", command }] };
}

test("a step that fails ends the build with its name, and leaves no release", async () => {
  const steps = [
    { name: "build", command: "echo before\nfalse\necho after" },
    { name: "later", command: "true" },
  ];
  const build = await host.build({ steps }, { "a.txt": "a" });
  expect(build.state).toBe("failed");
  expect(build.failure).toMatchObject({ code: "step", message: expect.stringContaining("build") });
  expect(await host.texts(build.id)).toContain("before");
  expect(await host.texts(build.id)).not.toContain("after");
  expect(host.host.builds.release(build.id)).toBeNull();
});

test("the values of secrets do not appear in the log", async () => {
  const build = await host.build(
    {
      steps: [{ name: "build", command: 'echo "key is $KEY and $OPEN"' }],
      variables: { KEY: "s3cr3t-value", OPEN: "plain-value" },
      secrets: ["KEY"],
    },
    {},
  );
  expect(await host.texts(build.id)).toContain("key is [secret] and plain-value");
  const file = readFileSync(join(host.dataDir, "builds", build.id, "log.jsonl"), "utf8");
  expect(file).not.toContain("s3cr3t-value");
});

test("an ended build or command leaves no values of its variables in its folder", async () => {
  const [built, cancelled, waiting] = ["v4lue-of-a-build", "v4lue-of-a-command", "v4lue-of-a-waiting-build"];
  const valuesLeft = () =>
    Bun.spawnSync(["grep", "-rhoE", "v4lue-[a-z-]+", join(host.dataDir, "builds")]).stdout.toString();
  const { id: release } = await host.build({ ...stepWith("test -n $KEY"), variables: { KEY: built } }, {});
  await until("the end of the build is kept", () => valuesLeft() === "");
  const command = { release, ...stepWith("echo begun; sleep 993") };
  const run = await host.orderTar({ ...command, variables: { KEY: cancelled } }, new Uint8Array());
  await until("the command begins", async () => (await host.texts(run.id)).includes("begun"));
  expect(valuesLeft()).toContain(cancelled);
  await host.host.builds.cancel(run.id);
  expect(valuesLeft()).toBe("");
  const running = await host.order(stepWith("echo begun; sleep 993"), {});
  await until("the build begins", async () => (await host.texts(running.id)).includes("begun"));
  const { id } = await host.order({ ...stepWith(`echo ${waiting}`), variables: { KEY: waiting } }, {});
  expect(valuesLeft()).toContain(waiting);
  await host.host.builds.cancel(id);
  expect(valuesLeft()).toBe("");
  await host.host.builds.cancel(running.id);
});

test("output beyond a megabyte is not kept, and a flood of it ends the build", async () => {
  const long = await host.build(
    { steps: [{ name: "build", command: "head -c 3000000 /dev/zero | tr '\\0' 'x' | fold -w 99" }] },
    {},
  );
  expect(long.state).toBe("succeeded");
  expect((await host.texts(long.id)).at(-1)).toContain("is not kept");
  expect(statSync(join(host.dataDir, "builds", long.id, "log.jsonl")).size).toBeLessThan(3 * MIB);
  const flood = await host.build({ steps: [{ name: "build", command: "yes" }] }, {});
  expect(flood.failure?.code).toBe("output");
});

test("a build ends at its deadline, with everything that it began", async () => {
  const mark = testId("sleeper");
  const build = await host.build(
    {
      deadlineSeconds: 2,
      steps: [{ name: "build", command: `setsid sh -c 'sleep 991 # ${mark}' & sleep 992` }],
    },
    {},
  );
  expect(build).toMatchObject({ state: "failed", failure: { code: "deadline" } });
  expect(processesWith(mark)).toEqual([]);
});

test("a cancel ends a running build at once, and a waiting one before it begins", async () => {
  const mark = testId("sleeper");
  const steps = [{ name: "build", command: `echo begun; sleep 993 # ${mark}\ntrue` }];
  const running = await host.order({ steps }, {});
  const waiting = await host.order({ steps }, {});
  await until("the step begins", async () => (await host.texts(running.id)).includes("begun"));
  expect((await host.host.builds.cancel(waiting.id)).state).toBe("cancelled");
  const begunAt = performance.now();
  expect(await host.host.builds.cancel(running.id)).toMatchObject({ state: "cancelled", failure: null });
  expect(performance.now() - begunAt).toBeLessThan(30_000);
  expect(host.host.builds.observe(waiting.id)?.steps).toEqual([]);
  expect((await host.build({}, {})).state).toBe("succeeded");
});

test("a cancel that comes while the order is being kept ends the build", async () => {
  const id = testId("depl");
  const ordered = host.order({ id, steps: [{ name: "build", command: "sleep 993" }] }, {});
  while (host.host.builds.observe(id) === null) await new Promise((resolve) => setImmediate(resolve));
  expect(await host.host.builds.cancel(id)).toMatchObject({ state: "cancelled" });
  await ordered;
  expect(host.host.builds.observe(id)).toMatchObject({ state: "cancelled" });
});

test("builds of an environment run in the order of their coming, and the same order is taken once", async () => {
  const first = await host.order({ steps: [{ name: "build", command: "sleep 0.3" }] }, {});
  const second = await host.order({}, {});
  const again = await host.order({ id: first.id }, {});
  expect(again.id).toBe(first.id);
  const ends = [await host.ended(first.id), await host.ended(second.id)].map(({ endedAt }) => endedAt ?? "");
  expect(ends).toEqual(ends.toSorted());
});

test("builds of other organizations come before the second of one, also after the host was restarted", async () => {
  const paused = new ApplicationHost({ buildsAtOnce: 0 });
  const next = new ApplicationHost({ buildsAtOnce: 1 }, paused.dataDir);
  await paused.start();
  const ids: string[] = [];
  for (const organization of ["org-a", "org-a", "org-b"]) {
    const build = await paused.order({ organization, environment: testId("env") }, {});
    ids.push(build.id);
  }
  paused.host.release();
  await next.start();
  const builds = await Promise.all(ids.map((id) => next.ended(id)));
  const begun = builds.toSorted((a, b) => (a.startedAt ?? "").localeCompare(b.startedAt ?? ""));
  expect(begun.map(({ id }) => ids.indexOf(id))).toEqual([0, 2, 1]);
  await next.close();
});

test("a version of Node.js that is not there is refused with the versions that are", async () => {
  const build = await host.build({ runtime: { name: "node", version: "12" } }, {});
  expect(build.failure).toEqual({
    code: "runtime",
    message: "Node.js 12 cannot be had here; 20, 22, 24 can.",
  });
});

test("a removed build and a removed release leave nothing", async () => {
  const { id } = await host.build({}, { "a.txt": "a" });
  await host.host.builds.remove(id);
  expect(existsSync(join(host.dataDir, "builds", id))).toBe(false);
  expect(existsSync(releaseApp(host.dataDir, id))).toBe(true);
  await host.host.builds.removeRelease(id);
  expect(existsSync(join(host.dataDir, "releases", id))).toBe(false);
});

test.each([
  ["no folder of that name", "mkdir dist && echo hi > dist/index.html"],
  ["an empty folder", "mkdir out"],
  ["a file of that name", "echo hi > out"],
  ["folders alone", "mkdir -p out/assets out/pages"],
  ["nothing but files that are never served", "mkdir -p out/.cache && touch out/.gitkeep out/.cache/a"],
  ["a link that leads out of the release", "ln -s /usr out"],
])("a build fails that makes %s for the web server to serve", async (_what, command) => {
  const build = await host.build({ steps: [{ name: "build", command }], served: "out" }, { "a.txt": "a" });
  expect(build.state).toBe("failed");
  expect(build.failure?.message).toStartWith(
    "The build made no files in out, the folder that its plan serves.",
  );
  expect(host.host.builds.release(build.id)).toBeNull();
});

test("a build may serve what a link leads to", async () => {
  const command = "mkdir dist && echo hi > dist/index.html && ln -s dist out";
  const build = await host.build({ steps: [{ name: "build", command }], served: "out" }, { "a.txt": "a" });
  expect([build.state, build.failure]).toEqual(["succeeded", null]);
});

test("the driver orders, follows, cancels and removes builds over the host's socket", async () => {
  const socket = join(host.dataDir, "run", "host.sock");
  const stop = serveHost(host.host, socket, createLog("host", "silent"));
  try {
    const driver = localDriver(socket);
    const steps = [{ name: "build", command: "wc -c < large.txt" }];
    const spec = buildSpec({ steps });
    const tar = tarOf({ "large.txt": "x".repeat(4 * MIB) });
    expect((await driver.build(spec, new Blob([tar]).stream())).state).toMatch(/queued|running/);
    const { signal } = new AbortController();
    const texts: string[] = [];
    for (let after = 0, isEnd = false; !isEnd;) {
      const slice = await driver.buildLog(spec.id, { after, waitMs: 10_000 }, signal);
      texts.push(...slice.lines.map(({ text }) => text));
      ({ next: after, isEnd } = slice);
    }
    expect(texts).toEqual([String(4 * MIB)]);
    expect(await driver.observeBuild(spec.id)).toMatchObject({ state: "succeeded" });
    expect(await driver.release(spec.id)).toMatchObject({ environment: spec.environment });
    expect(await driver.cancelBuild(spec.id)).toMatchObject({ state: "succeeded" });
    await driver.removeBuild(spec.id);
    await driver.removeRelease(spec.id);
    expect([await driver.observeBuild(spec.id), await driver.release(spec.id)]).toEqual([null, null]);
    await driver.removeEnvironment(spec.environment);
    expect((await driver.offer()).isolation).toBe("bubblewrap");
    await expect(driver.build({ ...spec, id: "UPPER" }, new Blob([tar]).stream())).rejects.toThrow("id");
  } finally {
    await stop();
  }
});

/** The processes of the machine with a text in their command line. */
function processesWith(text: string): string[] {
  const { stdout } = Bun.spawnSync(["pgrep", "-f", text]);
  return stdout.toString().split("\n").filter(Boolean);
}
