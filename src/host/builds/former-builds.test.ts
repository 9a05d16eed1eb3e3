// The builds of an earlier host: their groups, and a disk that takes nothing any more.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, linkSync, mkdirSync } from "node:fs";
import { ApplicationHost, buildSpec } from "../../../tests/support/applications/host.ts";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { BUILD_VERSION, type Build } from "../../contracts/builds.ts";
import { keptPath, replaceFile } from "../../lib/files.ts";
import { findCgroups } from "../os/cgroup-backends.ts";
import { confineTo } from "../os/cgroup.ts";
import { buildFolder, noteBuild, readBuild, type BuildFolder } from "./build-folder.ts";
import { groupOf } from "./step-options.ts";

const cgroups = findCgroups("/former-builds");

let host: ApplicationHost;

beforeEach(() => {
  host = new ApplicationHost();
});

afterEach(() => host.close());

/** A build as an earlier host has left it. */
function left(state: Build["state"], value = ""): { id: string; folder: BuildFolder } {
  const spec = buildSpec({ steps: [{ name: "build", command: "true" }], variables: { KEY: value } });
  const { id, environment } = spec;
  const folder = buildFolder(host.dataDir, id);
  mkdirSync(folder.work, { recursive: true });
  const at = new Date().toISOString();
  const build: Build = {
    version: BUILD_VERSION,
    id,
    environment,
    state,
    queuedAt: at,
    startedAt: state === "queued" ? null : at,
    endedAt: state === "queued" || state === "running" ? null : at,
    steps: [],
    failure: null,
    isolation: null,
  };
  replaceFile(folder.file, JSON.stringify({ build, spec }), 0o600);
  return { id, folder };
}

/** Whether a file below a folder has a value of a variable. */
function hasValue(path: string): boolean {
  return Bun.spawnSync(["grep", "--recursive", "--quiet", "v4lue", path]).exitCode === 0;
}

test("a build whose end cannot be kept does not keep the host from its start, and gives its room back", async () => {
  const { id, folder } = left("running");
  // A folder in the place of the file refuses a write at the moment when a full disk does.
  mkdirSync(`${folder.file}.tmp`);
  await host.start();
  expect(host.host.builds.observe(id)).toMatchObject({ state: "failed", failure: { code: "interrupted" } });
  expect(existsSync(folder.work)).toBe(false);
});

test("nor does a build that waits and cannot have a log", async () => {
  const { id, folder } = left("queued");
  mkdirSync(folder.log);
  await host.start();
  expect(await host.ended(id)).toMatchObject({ state: "failed" });
});

test("the values of variables that an earlier host has left in the files of ended builds are deleted", async () => {
  const { folder } = left("running", "v4lue-of-a-build");
  const ended = left("failed", "v4lue-of-a-build");
  const halfDone = left("failed", "v4lue-of-a-build");
  // The host was killed between both names of the file.
  const file = readBuild(halfDone.folder);
  linkSync(halfDone.folder.file, keptPath(halfDone.folder.file));
  if (file !== null) noteBuild(halfDone.folder, file);
  await host.start();
  for (const { path } of [folder, ended.folder, halfDone.folder])
    await until("the values are deleted", () => !hasValue(path));
  expect(host.host.builds.observe(ended.id)).toMatchObject({ state: "failed" });
});

test.skipIf(cgroups === null)(
  "the group of a build that was cut off is deleted with all that the kernel checks in it",
  async () => {
    if (cgroups === null) throw new Error("this machine has no cgroups");
    const { id } = left("running");
    const reserved = { range: { first: 20_000, last: 29_999 }, own: null };
    confineTo(cgroups, groupOf(id), [], {
      memoryBytes: 64 * 1024 ** 2,
      maxProcesses: 8,
      cpus: null,
      reserved,
    });
    const folders = [
      cgroups.bindsFolder(`pilvi/${groupOf(id)}`) ?? [],
      ...cgroups.folders(`pilvi/${groupOf(id)}`),
    ].flat();
    expect(folders.filter((each) => !existsSync(each))).toEqual([]);
    await host.start();
    expect(folders.filter((each) => existsSync(each))).toEqual([]);
  },
);
