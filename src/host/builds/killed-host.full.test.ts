// A host that is killed at each step of a build: the next host says truthfully what became of it, and goes on.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ApplicationHost, testId } from "../../../tests/support/applications/host.ts";
import { Failpoints, until } from "../../../tests/support/pilvi/pilvi.ts";
import { releaseApp } from "../os/layout.ts";
import { readBuildLog } from "./build-log.ts";

const SCRIPT = join(import.meta.dir, "../../../tests/support/applications/host-process.ts");

let failpoints: Failpoints;
let next: ApplicationHost;

beforeEach(() => {
  failpoints = new Failpoints();
  next = new ApplicationHost();
});

afterEach(async () => {
  await next.close();
  failpoints.close();
});

/** A host of its own process in the data directory of the next, which orders one build, or a command in a release. */
function startDoomed(id: string, command: string, ...release: string[]): Bun.Subprocess {
  const order = [next.dataDir, id, command, ...release];
  const words = [process.execPath, "--define=PILVI_FAILPOINTS:true", SCRIPT, ...order];
  return Bun.spawn(words, {
    env: { ...process.env, ...failpoints.env },
    stdio: ["ignore", "inherit", "inherit"],
  });
}

/** Whether nothing in a folder waits for its deletion. */
function isTidy(folder: string): boolean {
  return !existsSync(folder) || !readdirSync(folder).some((name) => name.startsWith("."));
}

test.each([
  ["host.build.received", null],
  ["host.build.queued", "succeeded"],
  ["host.build.begun", "failed"],
  ["host.build.prepared", "failed"],
  ["host.build.unpacked", "failed"],
  ["host.build.stepped", "failed"],
  ["host.build.moved", "failed"],
  ["host.build.published", "succeeded"],
] as const)("a host that is killed at %s leaves a build that is %p", async (name, state) => {
  const id = testId("killed");
  failpoints.arm(name);
  const doomed = startDoomed(id, "cp a.txt b.txt");
  const pid = await failpoints.reached();
  process.kill(pid, "SIGKILL");
  await doomed.exited;
  await next.start();
  if (state === null) {
    expect(next.host.builds.observe(id)).toBeNull();
  } else {
    const build = await next.ended(id);
    expect(build.state).toBe(state);
    expect(build.failure?.code).toBe(state === "failed" ? "interrupted" : undefined);
    expect(next.host.builds.release(id) !== null).toBe(state === "succeeded");
    expect(existsSync(join(next.dataDir, "builds", id, "work"))).toBe(false);
  }
  const releases = join(next.dataDir, "releases");
  await until("nothing unfinished is left", () => [releases, join(next.dataDir, "builds")].every(isTidy));
  expect((await next.build({}, { "a.txt": "a" })).state).toBe("succeeded");
});

test("a host that is killed in the middle of a step leaves no process of it", async () => {
  const id = testId("killed");
  const doomed = startDoomed(id, "echo begun; setsid sleep 938 & sleep 939");
  const log = join(next.dataDir, "builds", id, "log.jsonl");
  await until("the step begins", () => readBuildLog(log, 0).lines.some(({ text }) => text === "begun"));
  doomed.kill("SIGKILL");
  await doomed.exited;
  await next.start();
  expect(next.host.builds.observe(id)).toMatchObject({ state: "failed", failure: { code: "interrupted" } });
  const { stdout } = Bun.spawnSync(["pgrep", "-f", "sleep 93[89]"]);
  expect(stdout.toString()).toBe("");
});

test.each(["", "{"])(
  "a release whose file is %j after a power cut counts as absent, and gives way",
  async (text) => {
    const id = testId("cut");
    failpoints.arm("host.build.published");
    const doomed = startDoomed(id, "cp a.txt b.txt");
    process.kill(await failpoints.reached(), "SIGKILL");
    await doomed.exited;
    writeFileSync(join(next.dataDir, "releases", id, "release.json"), text);
    await next.start();
    expect(next.host.builds.observe(id)).toMatchObject({ state: "failed", failure: { code: "interrupted" } });
    expect(next.host.builds.release(id)).toBeNull();
    await expect(next.orderTar({ release: id }, new Uint8Array())).rejects.toThrow("is not on this host");
    await next.host.builds.remove(id);
    expect((await next.build({ id }, { "c.txt": "c" })).state).toBe("succeeded");
    expect(readdirSync(releaseApp(next.dataDir, id))).toEqual(["c.txt"]);
  },
);

test.each([
  ["host.build.queued", "succeeded"],
  ["host.build.begun", "failed"],
  ["host.build.stepped", "failed"],
] as const)("a host that is killed at %s leaves a command that is %p", async (name, state) => {
  const [release, id] = [testId("release"), testId("command")];
  await startDoomed(release, "cp a.txt b.txt").exited;
  failpoints.arm(name);
  const doomed = startDoomed(id, "cat b.txt", release);
  process.kill(await failpoints.reached(), "SIGKILL");
  await doomed.exited;
  await next.start();
  expect(await next.ended(id)).toMatchObject({ state });
  expect(next.host.builds.release(id)).toBeNull();
  expect((await next.runIn(release, { steps: [{ name: "again", command: "cat b.txt" }] })).state).toBe(
    "succeeded",
  );
});
