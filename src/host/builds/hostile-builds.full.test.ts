// Builds of hostile tenants: each ends as a failure of its own or harms nothing, and the next build works.
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApplicationHost, tarOfFolder, testId } from "../../../tests/support/applications/host.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { releaseApp } from "../os/layout.ts";

const MIB = 1024 ** 2;

let host: ApplicationHost;

beforeAll(async () => {
  host = new ApplicationHost();
  await host.start();
});

afterAll(() => host.close());

function step(command: string) {
  return { steps: [{ name: "build", command }] };
}

test("a fork bomb stays below its number of processes, and nothing of it outlives the build", async () => {
  const mark = testId("bomb");
  const build = await host.build(
    {
      ...step(`MARK=${mark}; bomb() { bomb | bomb & }; bomb; sleep 994`),
      maxProcesses: 64,
      deadlineSeconds: 3,
    },
    {},
  );
  expect(build.state).toBe("failed");
  expect(processesInGroup(build.id)).toEqual([]);
  expect((await host.build({}, {})).state).toBe("succeeded");
});

test("a step that eats memory is ended, and the reason says so", async () => {
  const build = await host.build(
    { ...step("tail /dev/zero"), memoryBytes: 64 * MIB, deadlineSeconds: 60 },
    {},
  );
  expect(build).toMatchObject({ state: "failed", failure: { code: "memory" } });
});

test("a step that fills the disk is ended", async () => {
  const build = await host.build(
    { ...step("for i in 1 2 3 4; do head -c 20M /dev/zero > f$i; done; sleep 995"), diskBytes: 48 * MIB },
    {},
  );
  expect(build).toMatchObject({ state: "failed", failure: { code: "disk" } });
  expect(existsSync(join(host.dataDir, "builds", build.id, "work"))).toBe(false);
});

test("a deep tree of folders ends its build, and nobody waits until it is deleted", async () => {
  const build = await host.build(step(deepTree(5_000)), {});
  expect(build.failure).toEqual({ code: "disk", message: expect.stringContaining("256 levels") });
  expect(existsSync(join(host.dataDir, "builds", build.id, "work"))).toBe(false);
  expect((await host.build({}, {})).state).toBe("succeeded");
});

test("a deep tree in the cache ends its build, and the next build has an empty cache", async () => {
  const build = await host.build(step(`cd /cache; ${deepTree(2_000)}`), {});
  expect(build.failure).toEqual({ code: "disk", message: expect.stringContaining("256 levels") });
  expect((await host.build(step('[ -z "$(ls -A /cache)" ]'), {})).state).toBe("succeeded");
});

test("a host starts while the deep trees that another has left are being deleted", async () => {
  const next = new ApplicationHost();
  const releases = join(next.dataDir, "releases");
  const left = join(releases, ".killed.tmp", "app");
  mkdirSync(left, { recursive: true });
  expect(Bun.spawnSync(["sh", "-c", deepTree(5_000)], { cwd: left }).exitCode).toBe(0);
  await next.start();
  expect(existsSync(left)).toBe(false);
  await until("the trees are deleted", () => readdirSync(releases).length === 0);
  await next.close();
});

test("files below paths that are too long to be looked at count, so their build ends", async () => {
  const script = `my $n = "n" x 200; for (1..40) { mkdir $n or die; chdir $n or die } open(F, ">f") or die`;
  const build = await host.build(step(`perl -e '${script}'`), {});
  expect(build.failure).toEqual({ code: "disk", message: expect.stringContaining("too long") });
  expect(host.host.builds.release(build.id)).toBeNull();
});

test("a build sees neither the data of Pilvi nor other processes, and cannot write to the system", async () => {
  const command = [
    `ls ${host.dataDir} 2>&1 || true`,
    "cat /etc/shadow 2>&1 || true",
    "ls /root /home /var 2>&1 || true",
    "touch /usr/owned /owned 2>&1 || true",
    "echo processes: $(ls /proc | grep -c '^[0-9]')",
    "unshare --user --map-root-user true 2>&1 || echo no namespaces",
    "id -u",
  ].join("\n");
  const build = await host.build(step(command), {});
  const texts = (await host.texts(build.id)).join("\n");
  expect(build.state).toBe("succeeded");
  expect(texts).toMatch(/cannot access '\/tmp\/.*No such file/);
  expect(texts).toContain("/etc/shadow: No such file");
  expect(texts).toContain("cannot touch '/usr/owned'");
  expect(texts).toContain("no namespaces");
  const processes = Number(/processes: (\d+)/.exec(texts)?.[1]);
  expect(processes).toBeLessThan(10);
  expect(texts.split("\n")).not.toContain("0");
});

test("a variable reaches the commands, and not the program that makes the sandbox", async () => {
  const command = `[ "$MARK" = "it's mine" ]; ! tr '\\0' '\\n' < /proc/1/environ | grep -q MARK`;
  const build = await host.build({ ...step(command), variables: { MARK: "it's mine" } }, {});
  expect(build).toMatchObject({ state: "succeeded", failure: null });
});

test("a step cannot write to the lock that it holds", async () => {
  const build = await host.build(step("! echo full >&3"), {});
  expect(build).toMatchObject({ state: "succeeded", failure: null });
});

test("a process that leaves its session ends with its step", async () => {
  const build = await host.build(step("setsid setsid sleep 996 >/dev/null 2>&1 & true"), {});
  expect(build.state).toBe("succeeded");
  expect(processesInGroup(build.id)).toEqual([]);
});

test("a link out of the release shows nothing of the machine, and is not followed by the host", async () => {
  const build = await host.build(
    step("ln -s /etc/shadow shadow; ln -s / root; chmod u+s a.txt; mkfifo pipe"),
    {
      "a.txt": "a",
    },
  );
  expect(build.state).toBe("succeeded");
  const app = releaseApp(host.dataDir, build.id);
  expect(lstatSync(join(app, "shadow")).isSymbolicLink()).toBe(true);
  expect(lstatSync(join(app, "a.txt")).mode & 0o4000).toBe(0);
  const first = readFileSync("/etc/shadow", "utf8");
  await host.host.builds.removeRelease(build.id);
  expect(readFileSync("/etc/shadow", "utf8")).toBe(first);
  expect(existsSync(app)).toBe(false);
});

test("an archive whose names lead out of its folder writes nothing there", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pilvi-hostile-"));
  try {
    writeFileSync(join(folder, "evil"), "evil");
    symlinkSync("/tmp", join(folder, "out"));
    const upwards = tarOfFolder(folder, ["evil"], ["--transform=s,^evil$,../../../../tmp/pilvi-evil,", "-P"]);
    const build = await host.orderTar({}, upwards);
    expect(await host.ended(build.id)).toMatchObject({ state: "failed", failure: { code: "step" } });
    const absolute = tarOfFolder(folder, ["evil"], ["--transform=s,^evil$,/tmp/pilvi-evil,", "-P"]);
    await host.ended((await host.orderTar({}, absolute)).id);
    expect(existsSync("/tmp/pilvi-evil")).toBe(false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a source that is no archive, or larger than its build may be, is refused", async () => {
  const bytes = new TextEncoder().encode("this is no archive");
  const build = await host.orderTar({}, bytes);
  expect(await host.ended(build.id)).toMatchObject({ state: "failed", failure: { code: "step" } });
  await expect(host.orderTar({ diskBytes: MIB }, new Uint8Array(2 * MIB))).rejects.toThrow("larger than");
  await expect(host.order({ id: "../evil" }, {})).rejects.toThrow("id is malformed");
});

/** A command that makes folders in each other. */
function deepTree(levels: number): string {
  return `perl -e 'for(1..${levels}){mkdir "d" or die;chdir "d" or die}'`;
}

/** Processes in the group of a build, of which none is left when the group is gone. */
function processesInGroup(id: string): string[] {
  const { stdout } = Bun.spawnSync([
    "sh",
    "-c",
    `cat /sys/fs/cgroup/*/pilvi/build-${id}/cgroup.procs 2>/dev/null`,
  ]);
  return stdout.toString().split("\n").filter(Boolean);
}
