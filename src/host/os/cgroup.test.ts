// The cgroups of instances, by the kernel itself.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { folderCgroups } from "../../../tests/support/folder-cgroups.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { freePort } from "../../../tests/support/pilvi/ports.ts";
import { EDGE_ID } from "../../contracts/edge-id.ts";
import type { Limits } from "../../contracts/observation.ts";
import { STORE_ID } from "../../contracts/store-id.ts";
import { codeOf } from "../../lib/errors.ts";
import type { ReservedPorts } from "./bind-guard.ts";
import { findCgroups } from "./cgroup-backends.ts";
import { canReservePorts, confine, confineTo, dissolve, expectMove, groupOf, killGroup } from "./cgroup.ts";

const [ours, others] = ["/first", "/second"].map((dataDir) => findCgroups(dataDir));

afterEach(async () => {
  for (const id of [STORE_ID, EDGE_ID]) await dissolve(ours ?? null, id);
});

describe.skipIf(!ours || !others)("a machine with two Pilvis", () => {
  test.each([STORE_ID, EDGE_ID])(
    "keeps the group of the %s that is about to start when that of the other Pilvi ends",
    async (id) => {
      if (!ours || !others) throw new Error("this machine has no cgroups");
      const limits: Limits = { memoryBytes: 64 * 1024 ** 2, enforcedBy: ours.version };
      confine(ours, id, [], limits);
      await dissolve(others, id);
      expect(ours.folders(groupOf(ours, id)).filter((folder) => !existsSync(folder))).toEqual([]);
    },
  );
});

test.skipIf(!ours)("a move that is expected leaves the host in the group that it is in", async () => {
  const own = ours?.ownProcesses() ?? "";
  const before = readFileSync("/proc/self/cgroup", "utf8");
  expect(readFileSync(own, "utf8").split("\n")).toContain(String(process.pid));
  await expectMove(ours ?? null);
  expect(readFileSync("/proc/self/cgroup", "utf8")).toBe(before);
});

test("a count of processor time names its group, which the next group of the instance does not share", () => {
  const mount = mkdtempSync(join(tmpdir(), "pilvi-cgroup-"));
  const [parent, group] = [join(mount, "cpu", "pilvi"), join(mount, "cpu", "pilvi", "app-1")];
  for (const folder of ["memory", "cpu/pilvi"]) mkdirSync(join(mount, folder), { recursive: true });
  const cpu = () => findCgroups("/first", mount)?.cpu("pilvi/app-1") ?? null;
  const make = (usedNs: number) => {
    mkdirSync(group);
    writeFileSync(join(group, "cpuacct.usage"), `${usedNs}\n`);
  };
  expect(cpu()).toBeNull();
  make(36_000_000_000);
  const first = cpu();
  expect(first).toEqual({ ms: 36_000, group: statSync(group).ino });
  renameSync(group, join(parent, "former"));
  make(0);
  expect(cpu()?.ms).toBe(0);
  expect(cpu()?.group).not.toBe(first?.group);
  rmSync(mount, { recursive: true });
});

/** Waits for the end of its input, then takes each port in turn. */
const TAKER = `
await Bun.stdin.text();
const outcomes = process.argv.slice(1).map((port) => {
  try { Bun.listen({ hostname: "127.0.0.1", port: Number(port), exclusive: true, socket: { data() {} } }).stop(); return "taken"; }
  catch (error) { return error.code; }
});
const { port } = await Bun.udpSocket({ hostname: "127.0.0.1", port: Number(process.argv[1]) });
console.log(...outcomes, port);
process.exit();
`;

test.skipIf(!canReservePorts(ours ?? null))(
  "a group refuses its processes a range of ports but their own, of now",
  async () => {
    if (!ours) throw new Error("this machine has no cgroups");
    const id = `taker-${process.pid}`;
    const [first, second, third] = threeFreePorts();
    const limits = { memoryBytes: 256 * 1024 ** 2, maxProcesses: 64, cpus: null };
    const outcomes = async (reserved?: ReservedPorts) => {
      const words = [process.execPath, "-e", TAKER, String(first), String(second), String(third)];
      const taker = Bun.spawn(words, { stdio: ["pipe", "pipe", "ignore"] });
      confineTo(ours, id, [taker.pid], { ...limits, reserved });
      await taker.stdin.end();
      return (await new Response(taker.stdout).text()).trim();
    };
    try {
      expect(await outcomes()).toBe(`taken taken taken ${first}`);
      expect(await outcomes({ range: { first, last: second }, own: null })).toBe(
        `EPERM EPERM taken ${first}`,
      );
      expect(await outcomes({ range: { first, last: third }, own: second })).toBe(
        `EPERM taken EPERM ${first}`,
      );
      expect(await outcomes({ range: { first: second, last: third }, own: third })).toBe(
        `taken EPERM taken ${first}`,
      );
    } finally {
      await dissolve(ours, id);
    }
    expect(existsSync(ours.bindsFolder(groupOf(ours, id)) ?? "")).toBe(false);
  },
);

function threeFreePorts(): [number, number, number] {
  for (;;) {
    const [first, second, third] = [freePort(), freePort(), freePort()];
    if (second === first + 1 && third === second + 1) return [first, second, third];
  }
}

/** Programs that begin with a line: processes that make others without a pause, and a process that goes on in a child. */
const [BOMB, RUNAWAY] = ["fork", "exit if fork"].map((step) => [
  "/bin/sh",
  "-c",
  `read -r go; exec /usr/bin/perl -e 'for (;;) { ${step} }'`,
]);
/** A root of groups of version 2, also beside controllers of version 1. */
const UNIFIED = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].find((path) =>
  existsSync(join(path, "cgroup.subtree_control")),
);

/** Removes a group, in which another Pilvi of the machine may have groups by now. */
function removeUnlessUsed(group: string): void {
  try {
    rmdirSync(group);
  } catch (error) {
    if (!["ENOTEMPTY", "EBUSY"].includes(codeOf(error) ?? "")) throw error;
  }
}

describe("the end of a group", () => {
  test.skipIf(!ours)("leaves no process, even of a program that keeps making others", async () => {
    if (!ours) throw new Error("this machine has no cgroups");
    const id = `bomb-${process.pid}`;
    const bomb = Bun.spawn(BOMB ?? [], { stdio: ["pipe", "ignore", "ignore"] });
    confineTo(ours, id, [bomb.pid], { memoryBytes: 64 * 1024 ** 2, maxProcesses: 24, cpus: 1 });
    await bomb.stdin.write("go\n");
    await bomb.stdin.end();
    const procs = ours.folders(groupOf(ours, id)).map((folder) => join(folder, "cgroup.procs"));
    const count = () => readFileSync(procs.at(-1) ?? "", "utf8").split("\n").length;
    await until("others are there", () => count() > 8);
    expect(await killGroup(ours, id)).toBe(true);
    expect(procs.map((path) => readFileSync(path, "utf8"))).toEqual(procs.map(() => ""));
    await dissolve(ours, id);
  });

  test.skipIf(UNIFIED === undefined)("is the kernel's own in version 2", async () => {
    const id = `runaway-${process.pid}`;
    const group = join(UNIFIED ?? "", "pilvi", id);
    const hadParent = existsSync(join(group, ".."));
    mkdirSync(group, { recursive: true });
    const runaway = Bun.spawn(RUNAWAY ?? [], { stdio: ["pipe", "ignore", "ignore"] });
    writeFileSync(join(group, "cgroup.procs"), String(runaway.pid));
    await runaway.stdin.write("go\n");
    await runaway.stdin.end();
    await runaway.exited;
    expect(await killGroup(folderCgroups(UNIFIED ?? ""), id)).toBe(true);
    expect(readFileSync(join(group, "cgroup.procs"), "utf8")).toBe("");
    rmdirSync(group);
    if (!hadParent) removeUnlessUsed(join(group, ".."));
  });

  test("is not over while a process is left", async () => {
    const folder = mkdtempSync(join(tmpdir(), "pilvi-cgroup-"));
    const group = join(folder, "pilvi", "app-1");
    mkdirSync(group, { recursive: true });
    const gone = Bun.spawn(["true"]);
    await gone.exited;
    // A process that does not end, whatever signal it gets.
    writeFileSync(join(group, "cgroup.procs"), `${gone.pid}\n`);
    expect(await killGroup(folderCgroups(folder), "app-1", 0)).toBe(false);
    writeFileSync(join(group, "cgroup.procs"), "");
    expect(await killGroup(folderCgroups(folder), "app-1", 0)).toBe(true);
    expect(await killGroup(null, "app-1")).toBe(true);
    rmSync(folder, { recursive: true });
  });
});

/** The kernel allows groups with controllers below a group with processes nowhere but at its root. */
describe.skipIf(ours?.version !== "cgroup-v2")("a container, whose uppermost group has processes", () => {
  const uppermost = `/sys/fs/cgroup/pilvi-test-${process.pid}`;
  const id = "caches-test";
  let shell: Bun.Subprocess;
  let engine: Bun.Subprocess;

  beforeEach(() => {
    mkdirSync(uppermost);
    shell = Bun.spawn(["sleep", "600"]);
    engine = Bun.spawn(["sleep", "600"]);
    writeFileSync(join(uppermost, "cgroup.procs"), String(shell.pid));
  });

  afterEach(async () => {
    const processes = [shell, engine];
    for (const child of processes) child.kill("SIGKILL");
    await Promise.all(processes.map((child) => child.exited));
    for (const group of [`pilvi/${id}`, "pilvi", "beside-pilvi", ""]) rmdirSync(join(uppermost, group));
  });

  test("limits instances, and keeps the other processes in a group beside them", () => {
    const cgroups = findCgroups("/first", uppermost);
    if (cgroups === null) throw new Error("no groups can be made");
    confine(cgroups, id, [engine.pid], { memoryBytes: 64 * 1024 ** 2, enforcedBy: "cgroup-v2" });
    const read = (...path: string[]) => readFileSync(join(uppermost, ...path), "utf8").trim();
    expect(read("pilvi", id, "memory.max")).toBe(String(64 * 1024 ** 2));
    expect(read("pilvi", id, "cgroup.procs")).toBe(String(engine.pid));
    expect(read("beside-pilvi", "cgroup.procs")).toBe(String(shell.pid));
  });
});
