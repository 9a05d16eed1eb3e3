// A runner: the end of an instance whose engine has left processes that do not hold its lock, the group that an earlier
// host has left, and the next attempt after data could not be built anew.
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { existsSync, mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folderCgroups } from "../../../tests/support/folder-cgroups.ts";
import { chooseEngine } from "./context.ts";
import type { Runnable } from "./runner-parts.ts";
import { manifestFor } from "../manifest/spec-change.ts";
import { sleepySpec, TestHosts } from "../test-support.ts";
import { ensureInstanceFolder, instanceFolder } from "../os/layout.ts";
import type { OriginSource } from "../provisioning/origin.ts";
import { markRebuild } from "../provisioning/rebuild.ts";
import { WarmPool } from "../provisioning/warm-pool.ts";
import { PublicError } from "../../lib/errors.ts";
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

const NO_ORIGIN: OriginSource = { build: () => Promise.reject(new Error("there is no origin")) };

/** A runner of an instance for which nothing was chosen yet, with groups that are folders. */
function runner(origin = NO_ORIGIN): Runner {
  const folder = instanceFolder(hosts.dataDir, ID);
  ensureInstanceFolder(folder);
  const parts = {
    id: ID,
    settings: { ...hosts.settings, cgroups: folderCgroups(hosts.dataDir) },
    slots: new WarmPool(hosts.dataDir, 0, createLog("host", "silent")),
    origin,
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

/** The manifest of a replica, which gets its data from elsewhere. */
async function replicaManifest() {
  const spec = sleepySpec("postgres", { id: ID, replicaOf: "db-1" });
  return manifestFor(spec, await chooseEngine(hosts.settings, spec), null, () => null);
}

/** Builds data that no engine can serve. */
async function buildStandby(folder: string): Promise<void> {
  mkdirSync(join(folder, "data", "pg_wal"), { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, "data", "standby.signal"), "");
}

/** Starts an engine that ends at once. Its group, which is made meanwhile, is there as well then. */
async function startAndEnd(replica: Runner, runnable: Runnable): Promise<void> {
  const started = await replica.start(runnable);
  await expect(replica.untilReady(runnable, started)).rejects.toThrow();
}

test("a group that an earlier host has left counts for no engine that starts later, and that of a crash does", async () => {
  const group = join(hosts.dataDir, "pilvi", ID);
  const replica = runner({ build: (_origin, _engine, _context, folder) => buildStandby(folder) });
  const runnable = await replica.choose(await replicaManifest());
  const timeAfterStart = async () => {
    utimesSync(group, 1, 1);
    await startAndEnd(replica, runnable);
    return statSync(group).mtimeMs;
  };
  expect(await timeAfterStart()).toBeGreaterThan(1_000);
  expect(await timeAfterStart()).toBe(1_000);
});

test("data that could not be built anew is built by a later start", async () => {
  const manifest = await replicaManifest();
  let isAway = false;
  const replica = runner({
    build: (_origin, _engine, _context, folder) => {
      if (isAway) return Promise.reject(new PublicError("The keeper does not answer."));
      return buildStandby(folder);
    },
  });
  const runnable = await replica.choose(manifest);
  const started = () => startAndEnd(replica, runnable);
  await started();
  markRebuild(instanceFolder(hosts.dataDir, ID));
  isAway = true;
  expect(await started().catch((error: Error) => error.message)).toBe("The keeper does not answer.");
  isAway = false;
  await started();
  expect(existsSync(join(instanceFolder(hosts.dataDir, ID).data, "standby.signal"))).toBe(true);
});
