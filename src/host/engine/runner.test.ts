// The end of an instance whose engine has left processes that do not hold its lock.
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folderCgroups } from "../../../tests/support/folder-cgroups.ts";
import { TestHosts } from "../test-support.ts";
import { ensureInstanceFolder, instanceFolder } from "../os/layout.ts";
import { WarmPool } from "../provisioning/warm-pool.ts";
import { createLog } from "../../lib/log.ts";
import { Runner } from "./runner.ts";

const ID = "app-1";

let hosts: TestHosts;
let procs: string;

beforeEach(() => {
  hosts = new TestHosts();
  const group = join(hosts.dataDir, "pilvi", ID);
  mkdirSync(group, { recursive: true });
  procs = join(group, "cgroup.procs");
});

afterEach(() => hosts.close());

/** A runner of an instance for which nothing was chosen yet, with groups that are folders. */
function runner(): Runner {
  const folder = instanceFolder(hosts.dataDir, ID);
  ensureInstanceFolder(folder);
  const parts = {
    id: ID,
    settings: { ...hosts.settings, cgroups: folderCgroups(hosts.dataDir) },
    slots: new WarmPool(hosts.dataDir, 0, createLog("host", "silent")),
    origin: { build: () => Promise.reject(new Error("there is no origin")) },
    folder,
    file: { manifest: null },
    log: createLog("host", "silent"),
    leaving: new AbortController().signal,
    onEnded: () => {},
  };
  return new Runner(parts, {
    started() {},
    ended() {},
    found() {},
    noteOomKills: (kills: number) => kills,
  });
}

test("an instance is stopped only once its group has no process any more", async () => {
  const gone = Bun.spawn(["true"]);
  await gone.exited;
  // A process that does not end, whatever signal it gets.
  writeFileSync(procs, `${gone.pid}\n`);
  const stopped = runner();
  let nowMs = 0;
  const clock = spyOn(performance, "now").mockImplementation(() => (nowMs += 10_000));
  try {
    expect(await stopped.stop().catch((error: Error) => error.message)).toBe(
      "Processes of the instance do not end.",
    );
  } finally {
    clock.mockRestore();
  }
  rmSync(procs);
  expect(await stopped.stop()).toBe(false);
});
