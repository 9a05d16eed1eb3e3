// Commands in a release: run in the sandbox with its files and variables, and without a change to it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import {
  ApplicationHost,
  applicationSpec,
  buildSpec,
  testId,
} from "../../../tests/support/applications/host.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { localDriver } from "../../drivers/local/index.ts";
import { machineNetwork } from "../../engines/runtimes/machine-network.ts";
import { createLog } from "../../lib/log.ts";
import { releaseApp } from "../os/layout.ts";
import { serveHost } from "../server.ts";

const MIB = 1024 ** 2;

let host: ApplicationHost;
let release: string;

beforeAll(async () => {
  host = new ApplicationHost();
  await host.start();
  ({ id: release } = await host.build({}, { "a.txt": "in the release\n", "node_modules/.bin/tool": "" }));
});

afterAll(() => host.close());

function step(command: string, name = "command") {
  return { steps: [{ name, command }] };
}

test("a command sees the release and its variables, and its output has no secret", async () => {
  const run = await host.runIn(release, {
    ...step("cat a.txt; pwd; echo $NODE_ENV $WORD $KEY >&2"),
    variables: { WORD: "word", KEY: "s3cr3t-value" },
    secrets: ["KEY"],
  });
  expect(run).toMatchObject({ state: "succeeded", failure: null, isolation: "bubblewrap" });
  expect(run.steps.map(({ name, exitCode }) => [name, exitCode])).toEqual([["command", 0]]);
  const texts = await host.texts(run.id);
  expect(texts.toSorted()).toEqual(["/app", "in the release", "production word [secret]"]);
  expect(host.host.builds.release(run.id)).toBeNull();
});

test("a command reaches other machines as the application does", async () => {
  const run = await host.runIn(release, step("env"));
  const texts = await host.texts(run.id);
  const wanted = { HOME: "/home/app", TMPDIR: "/tmp", ...machineNetwork() };
  expect(texts).toEqual(
    expect.arrayContaining(Object.entries(wanted).map(([name, value]) => `${name}=${value}`)),
  );
});

test("a command cannot change the release or the cache, and has folders of its own", async () => {
  const before = readdirSync(releaseApp(host.dataDir, release));
  const script = [
    "touch /app/new 2>/dev/null && echo changed",
    "rm /app/a.txt 2>/dev/null && echo removed",
    "mount -o remount,rw /app 2>/dev/null && echo remounted",
    "test -e /cache && echo cache",
    'echo kept > /tmp/x && echo kept > "$HOME/x" && cat /tmp/x',
  ].join("\n");
  const run = await host.runIn(release, step(`set +e\n${script}`));
  expect(await host.texts(run.id)).toEqual(["kept"]);
  expect(readdirSync(releaseApp(host.dataDir, release))).toEqual(before);
  const again = await host.runIn(release, step("ls /tmp"));
  expect(await host.texts(again.id)).toEqual([]);
});

test("a command that fails has its exit code, and later steps do not run", async () => {
  const steps = [
    { name: "deploy", command: "echo migrating; exit 3" },
    { name: "later", command: "echo later" },
  ];
  const run = await host.runIn(release, { steps });
  expect(run).toMatchObject({ state: "failed", failure: { code: "step" } });
  expect(run.steps.map(({ name, exitCode }) => [name, exitCode])).toEqual([["deploy", 3]]);
  const texts = await host.texts(run.id);
  expect(texts).toContain("migrating");
  expect(texts).not.toContain("later");
});

test("a command ends at its deadline, its memory and the bound of its output", async () => {
  const late = await host.runIn(release, { ...step("setsid sleep 943 & sleep 943"), deadlineSeconds: 1 });
  expect(late.failure).toEqual({ code: "deadline", message: "The command took longer than its 1 seconds." });
  const large = await host.runIn(release, { ...step("tail /dev/zero"), memoryBytes: 64 * MIB });
  expect(large.failure).toMatchObject({ code: "memory" });
  const loud = await host.runIn(release, step("yes | head -c 3000000"));
  expect(loud).toMatchObject({ state: "succeeded" });
  const texts = await host.texts(loud.id);
  expect(texts.at(-1)).toContain("is not kept");
  expect(texts.join("\n").length).toBeLessThan(MIB);
  expect(Bun.spawnSync(["pgrep", "-f", "sleep 943"]).stdout.toString()).toBe("");
});

test("commands run beside a build and an application, and keep their release until they end", async () => {
  const build = await host.order(step("until test -e /cache/over; do sleep 0.05; done", "build"), {});
  const spec = applicationSpec({ release, command: "exec sleep 942", healthPath: null });
  void host.host.ensure(spec).catch(() => undefined);
  const open = await host.orderTar({ release, ...step("echo begun; sleep 941") }, new Uint8Array());
  await until("it has begun", async () => (await host.texts(open.id)).includes("begun"));
  expect((await host.runIn(release, step("true"))).state).toBe("succeeded");
  expect(host.host.builds.observe(build.id)?.state).toBe("running");
  await host.host.remove(spec.id);
  await expect(host.host.builds.removeRelease(release)).rejects.toThrow(open.id);
  expect(await host.host.builds.cancel(open.id)).toMatchObject({ state: "cancelled" });
  await host.host.builds.cancel(build.id);
  const other = await host.build({}, {});
  await host.host.builds.removeRelease(other.id);
  await expect(host.runIn(other.id, step("true"))).rejects.toThrow("is not on this host");
  await expect(host.runIn(release, { ...step("true"), environment: "env-other" })).rejects.toThrow(
    "of env-other is not on this host",
  );
});

test("a driver orders a command without a source, and reads its output", async () => {
  const socket = join(host.dataDir, "run", "host.sock");
  const stop = serveHost(host.host, socket, createLog("host", "silent"));
  try {
    const driver = localDriver(socket);
    const { id } = await driver.build(buildSpec({ release, ...step("cat a.txt") }), null);
    const { signal } = new AbortController();
    const slice = await driver.buildLog(id, { after: 0, waitMs: 10_000 }, signal);
    expect(slice.lines.map(({ text }) => text)).toEqual(["in the release"]);
    await until("it ends", async () => (await driver.observeBuild(id))?.state === "succeeded");
    await driver.removeBuild(id);
  } finally {
    await stop();
  }
});

test("the next host says that a command was ended with its host, and leaves nothing of it", async () => {
  const id = testId("command");
  await host.orderTar({ id, release, ...step("echo begun; sleep 940") }, new Uint8Array());
  await until("it has begun", async () => (await host.texts(id)).includes("begun"));
  await host.restart();
  expect(host.host.builds.observe(id)).toMatchObject({
    state: "failed",
    failure: { code: "interrupted", message: expect.stringContaining("while the command ran") },
  });
  expect(existsSync(join(host.dataDir, "builds", id, "work"))).toBe(false);
  expect(Bun.spawnSync(["pgrep", "-f", "sleep 940"]).stdout.toString()).toBe("");
  expect((await host.runIn(release, step("true"))).state).toBe("succeeded");
});
