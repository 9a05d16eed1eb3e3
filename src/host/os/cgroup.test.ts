// The cgroups of instances, by the kernel itself.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EDGE_ID } from "../../contracts/edge-id.ts";
import type { Limits } from "../../contracts/observation.ts";
import { STORE_ID } from "../../contracts/store-id.ts";
import { findCgroups } from "./cgroup-backends.ts";
import { confine, dissolve, groupOf } from "./cgroup.ts";

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
