// Instances that can sleep: the measured kinds, their creation, and their suspension.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { mariadb } from "../../src/engines/mariadb/index.ts";
import { postgres } from "../../src/engines/postgres/index.ts";
import { valkey } from "../../src/engines/valkey/index.ts";
import type { CacheResource } from "../../src/resources/caches/schema.ts";
import { createCluster, MYSQL, POSTGRES } from "../../tests/support/pilvi/databases.ts";
import { until, type TestPilvi } from "../../tests/support/pilvi/pilvi.ts";
import type { Address } from "./clients.ts";
import { addressOf } from "./databases.ts";
import { storeValue } from "./wire-redis.ts";

/** A kind of instance to measure. */
export interface Sleeper {
  label: string;
  /** The signal for a clean end of its engine. */
  stopSignal: NodeJS.Signals;
  /**
   * Creates an instance that can sleep but does not by itself during the measurement, and waits until it is available.
   */
  create(pilvi: TestPilvi): Promise<Sleepy>;
}

/** An instance that can sleep, and its address through the gateway. */
export interface Sleepy extends Address {
  id: string;
  /** The path of the resource in the API. */
  path: string;
}

/** The lengths of the spans of a wake, in milliseconds, by name in their order. */
export type Spans = Record<string, number>;

interface SleepDocument {
  data: {
    meta: { sleep: { state: string; wakes: number; last_wake: { spans_ms: Spans } | null } };
  };
}

/** Longer than any measurement. */
const SUSPEND_SECONDS = 86_400;
const HIBERNATION_MINUTES = 60;
/** Two requests in a row would take the processor from the awaited work. */
const POLL_MS = 2;

export const POSTGRES_SLEEPER: Sleeper = {
  label: "Postgres",
  stopSignal: postgres.stopSignal,
  create: (pilvi) => createSleepyCluster(pilvi, { type: POSTGRES, config: serverlessConfig(0.25) }),
};

export const MYSQL_SLEEPER: Sleeper = {
  label: "MySQL (MariaDB)",
  stopSignal: mariadb.stopSignal,
  create: (pilvi) =>
    createSleepyCluster(pilvi, { type: MYSQL, config: { suspend_seconds: SUSPEND_SECONDS } }),
};

export const VALKEY_SLEEPER: Sleeper = {
  label: "Valkey",
  stopSignal: valkey.stopSignal,
  create: async (pilvi) => {
    const cache = sleepyCache(
      await pilvi.createCache({ uses_hibernation: true, hibernation_timeout: HIBERNATION_MINUTES }),
    );
    await storeValue(cache.place, cache.login);
    return cache;
  },
};

/** The config of a serverless Postgres with some compute units, which sleeps only on request. */
export function serverlessConfig(computeUnits: number): Record<string, number> {
  return {
    cu_min: computeUnits,
    cu_max: computeUnits,
    suspend_seconds: SUSPEND_SECONDS,
    retention_days: 0,
  };
}

/** Creates a cluster that can sleep, and waits until it is available. */
export async function createSleepyCluster(
  pilvi: TestPilvi,
  attributes: Record<string, unknown>,
): Promise<Sleepy> {
  const cluster = await createCluster(pilvi, attributes);
  return { id: cluster.id, path: `/databases/clusters/${cluster.id}`, ...addressOf(cluster) };
}

function sleepyCache({ id, attributes }: CacheResource): Sleepy {
  const { hostname, port, username, password } = attributes.connection;
  return {
    id,
    path: `/caches/${id}`,
    protocol: "redis",
    place: { hostname, port },
    login: { username: username ?? "", password: password ?? "", database: "" },
  };
}

/** The unix socket of its running engine. */
export function socketOf({ dataDir }: TestPilvi, { id }: { id: string }): string {
  const folder = join(dataDir, "instances", id, "run");
  const name = readdirSync(folder).find((each) => statSync(join(folder, each)).isSocket());
  if (name === undefined) throw new Error(`there is no socket in ${folder}`);
  return join(folder, name);
}

/** Suspends an instance through the API and waits until it sleeps. */
export async function suspend(pilvi: TestPilvi, sleepy: Sleepy): Promise<void> {
  const { status, body } = await pilvi.api<SleepDocument>("POST", `${sleepy.path}/suspend`);
  if (status !== 200) throw new Error(`POST ${sleepy.path}/suspend: ${status} ${JSON.stringify(body)}`);
  await until(`${sleepy.id} sleeps`, async () => {
    if ((await sleepOf(pilvi, sleepy)).state === "asleep") return true;
    await Bun.sleep(POLL_MS);
    return false;
  });
}

/** The number of its wakes so far. */
export async function wakesOf(pilvi: TestPilvi, sleepy: Sleepy): Promise<number> {
  return (await sleepOf(pilvi, sleepy)).wakes;
}

/** The spans of the next wake after a number of wakes; Pilvi shows them a moment after the client has its answer. */
export async function spansOfNext(pilvi: TestPilvi, sleepy: Sleepy, wakes: number): Promise<Spans> {
  let spans: Spans | undefined;
  await until(`the wake of ${sleepy.id} is shown`, async () => {
    const sleep = await sleepOf(pilvi, sleepy);
    if (sleep.wakes > wakes) spans = sleep.last_wake?.spans_ms;
    return spans !== undefined;
  });
  return spans ?? {};
}

async function sleepOf(pilvi: TestPilvi, { path }: Sleepy): Promise<SleepDocument["data"]["meta"]["sleep"]> {
  const { status, body } = await pilvi.api<SleepDocument>("GET", path);
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
  return body.data.meta.sleep;
}
