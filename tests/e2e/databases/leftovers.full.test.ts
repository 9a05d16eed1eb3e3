// A deleted cluster leaves nothing with the kernel: no shared memory and no cgroup.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  createCluster,
  deleteCluster,
  MYSQL,
  POSTGRES,
  processesOf,
  startDatabases,
} from "../../support/pilvi/databases.ts";
import { type TestPilvi, until } from "../../support/pilvi/pilvi.ts";
import { killIfThere } from "../../support/pilvi/processes.ts";

const isRoot = process.getuid?.() === 0;

/** The cgroup file systems, for both versions of cgroups. */
const GROUPS = ["", "memory", "cpu"].map((folder) => join("/sys/fs/cgroup", folder, "pilvi"));

let pilvi: TestPilvi;
beforeAll(async () => {
  pilvi = await startDatabases({ PILVI_WARM_SLOTS: "0" });
});
afterAll(() => pilvi.close());

/** Shared memory of System V and POSIX that belongs to the user. */
function sharedMemoryOf(uid: number): string[] {
  const files = readdirSync("/dev/shm").filter((name) => ownerOf(join("/dev/shm", name)) === uid);
  const [head = "", ...lines] = readFileSync("/proc/sysvipc/shm", "utf8").trim().split("\n");
  const column = head.trim().split(/\s+/).indexOf("uid");
  return [...files, ...lines.filter((line) => Number(line.trim().split(/\s+/)[column]) === uid)];
}

/** Other processes' shared memory comes and goes meanwhile. */
function ownerOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.uid;
}

/** Waits until it is gone. */
async function remove(id: string): Promise<void> {
  await deleteCluster(pilvi, id);
  await until("the host has forgotten it", () => !pilvi.instanceFolders().includes(id));
}

test.skipIf(!isRoot).each([
  ["Postgres that runs", POSTGRES, false],
  ["Postgres that was just killed", POSTGRES, true],
  ["MySQL that runs", MYSQL, false],
] as const)("a %s leaves nothing", async (_what, type, isKilled) => {
  const cluster = await createCluster(pilvi, { type });
  const [pid = 0, ...others] = processesOf(pilvi, cluster.id);
  const { uid } = statSync(`/proc/${pid}`);
  if (type === POSTGRES) expect(sharedMemoryOf(uid).length).toBeGreaterThan(1);
  if (isKilled) for (const each of [pid, ...others]) killIfThere(each);
  await remove(cluster.id);
  expect(sharedMemoryOf(uid)).toEqual([]);
  for (const folder of GROUPS) expect(existsSync(join(folder, cluster.id))).toBe(false);
});

test("a deletion does not wait for an engine that cannot be stopped for a change", async () => {
  const config = { cu_min: 0.25, cu_max: 0.25 };
  const { id } = await createCluster(pilvi, { type: POSTGRES, config });
  const [postmaster = 0] = processesOf(pilvi, id);
  process.kill(postmaster, "SIGSTOP");
  const path = `/databases/clusters/${id}`;
  const larger = { config: { cu_min: 0.25, cu_max: 1 } };
  expect((await pilvi.api("PATCH", path, larger)).status).toBe(200);
  await until("the host stops it", async () => {
    const { body } = await pilvi.api<{ data: { attributes: { status: string } } }>("GET", path);
    return body.data.attributes.status === "updating" && isSignalled(postmaster);
  });
  // Postgres has a minute for its end, which a deletion that waited for it would exceed.
  await remove(id);
});

/** Whether a stopped process has been asked to end. */
function isSignalled(pid: number): boolean {
  const pending = /^ShdPnd:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return BigInt(`0x${pending?.[1] ?? 0}`) !== 0n;
}
