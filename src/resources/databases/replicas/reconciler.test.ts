// Orders for the replicas of a cluster while one of them is being built, which takes as long as the data is large.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { startApi, type TestApi } from "../../../../tests/support/api/api.ts";
import { make, observed } from "../../../../tests/support/api/resources-api.ts";
import { until } from "../../../../tests/support/pilvi/pilvi.ts";
import type { InstanceSpec, PostgresSpec } from "../../../contracts/instance-spec.ts";
import type { Driver } from "../../../drivers/driver.ts";
import { createLog } from "../../../lib/log.ts";
import { Loop, type Reconcile } from "../../../reconciler/loop.ts";
import { sessionOf } from "../../../reconciler/test-support.ts";
import { loadDatabaseCluster, type DatabaseClusterRow } from "../store.ts";
import { reconcileReplicas } from "./reconciler.ts";
import { enqueueReplicas, REPLICAS } from "./store.ts";

const PATH = "/api/databases/clusters";
const ORDER = {
  type: "provider_managed_postgres",
  name: "replicated",
  region: "eu-central-1",
  config: { uses_pitr: true, read_replicas: 1 },
};

/** A driver's part about replicas, kept in memory: what it was asked for, and builds that last until they are ended. */
class DriverReplicas {
  /** Whether the data of further replicas is not whole yet. */
  isBuilding = false;
  readonly specs: PostgresSpec[] = [];
  readonly #running = new Set<string>();
  readonly #builds = new Map<string, PromiseWithResolvers<void>>();

  readonly driver: Partial<Driver> = {
    archive: async (id) => archiveOf(id),
    ensure: async (spec: InstanceSpec, signal = new AbortController().signal) => {
      if (spec.kind !== "postgres") throw new Error(`${spec.id} is no replica`);
      this.specs.push(spec);
      if (this.isBuilding && !this.#running.has(spec.id)) await this.#build(spec.id, signal);
      this.#running.add(spec.id);
      return observed(spec.id, "running");
    },
    remove: async (id) => {
      this.#running.delete(id);
      this.#builds.get(id)?.reject(new Error(`${id} is being removed`));
    },
    observe: async (id) => observed(id, this.#running.has(id) ? "running" : "absent"),
  };

  /** The specs that the driver got for a replica, the oldest first. */
  specsOf(id: string): PostgresSpec[] {
    return this.specs.filter((spec) => spec.id === id);
  }

  runs(id: string): boolean {
    return this.#running.has(id);
  }

  async #build(id: string, signal: AbortSignal): Promise<void> {
    const build = Promise.withResolvers<void>();
    this.#builds.set(id, build);
    signal.addEventListener("abort", () => build.reject(signal.reason));
    await build.promise;
  }
}

function archiveOf(id: string) {
  const engine = { name: "postgres", major: "18", version: "18.1" } as const;
  const at = new Date().toISOString();
  const log = {
    watermark: { segment: "000000010000000000000001", lsn: "0/1000000", at },
    firstSegment: "000000010000000000000001",
    timeline: 1,
    gaps: [],
    earliestRestoreTime: at,
    lagSeconds: 0,
  };
  return { id, engine, backups: [], log, storedBytes: 0, lastError: null } as never;
}

let api: TestApi;
let driver: DriverReplicas;
let loop: Loop;
let id: string;

/** The cluster's own run, once its primary is as ordered; the replicas get the change as well. */
const reached: Reconcile = async (clusterId) => ({
  result: { settled: true },
  write: async (tx) => await enqueueReplicas(tx, { id: clusterId, hostId: api.host.id }),
});

beforeEach(async () => {
  api = await startApi();
  driver = new DriverReplicas();
  Object.assign(api.host.driver, driver.driver);
  const reconcilers = new Map([
    ["databases", reached],
    [REPLICAS, reconcileReplicas(api.context)],
  ]);
  loop = new Loop({
    db: api.db,
    openSession: (onClose) => sessionOf(api.db, onClose),
    hostIds: [api.host.id],
    reconcilers,
    slowKinds: [REPLICAS],
    log: createLog("test", "silent"),
  });
  await loop.start();
  ({ id } = await make(api, { path: PATH }, ORDER));
});
afterEach(async () => {
  await loop.stop();
  await api.stop();
});

async function row(): Promise<DatabaseClusterRow> {
  const found = await loadDatabaseCluster(api.db, id);
  if (found === null) throw new Error("the cluster is gone");
  return found;
}

async function change(config: object): Promise<void> {
  const response = await api.request(`${PATH}/${id}`, { method: "PATCH", json: { config } });
  expect(response.status).toBe(200);
}

/** Has the first replica run, and the second be built. @returns their ids. */
async function buildSecond(): Promise<[first: string, second: string]> {
  await until(
    "the first replica runs",
    () => driver.specs.length > 0 && driver.runs(driver.specs[0]?.id ?? ""),
  );
  driver.isBuilding = true;
  await change({ read_replicas: 2 });
  await until(
    "the second replica is being built",
    () => new Set(driver.specs.map((spec) => spec.id)).size === 2,
  );
  const [first, second] = (await row()).replicas.map((replica) => replica.id);
  if (first === undefined || second === undefined) throw new Error("there are not two replicas");
  return [first, second];
}

test("a replica that works gets a new password while another is built", async () => {
  const [first, second] = await buildSecond();
  const former = driver.specsOf(first).at(-1)?.users;
  await api.request(`${PATH}/${id}/rotate-credentials`, { json: {} });
  const isChanged = () => !Bun.deepEquals(driver.specsOf(first).at(-1)?.users, former);
  await until("the first replica has the new password", isChanged);
  expect(driver.runs(second)).toBe(false);
});

test("a replica that works follows its cluster to another size while another is built", async () => {
  const [first, second] = await buildSecond();
  const former = driver.specsOf(first).at(-1)?.memoryBytes;
  await change({ size: "db.t4g.medium" });
  const isChanged = () => driver.specsOf(first).at(-1)?.memoryBytes !== former;
  await until("the first replica has the new size", isChanged);
  expect(driver.runs(second)).toBe(false);
});

test("a replica that is no longer wanted is removed while it is built", async () => {
  const [first] = await buildSecond();
  await change({ read_replicas: 1 });
  await until("there is one replica", async () => (await row()).replicas.length === 1);
  expect((await row()).replicas).toMatchObject([{ id: first }]);
});

test("a further replica is begun while another is built", async () => {
  const [, second] = await buildSecond();
  await change({ read_replicas: 3 });
  await until("the third replica is begun", () => new Set(driver.specs.map((spec) => spec.id)).size === 3);
  expect(driver.runs(second)).toBe(false);
});
