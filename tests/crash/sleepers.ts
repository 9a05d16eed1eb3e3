// The kinds of instances that sleep, and their state for a test: asleep or awake, as the API and the kernel see it.
import { expect } from "bun:test";
import { instanceFolder } from "../../src/host/os/layout.ts";
import { readManifest, saysAsleep } from "../../src/host/manifest/manifest.ts";
import type { Resource } from "./ledger-sessions.ts";
import { createCluster, MYSQL, POSTGRES, processesOf } from "../support/pilvi/databases.ts";
import { until, type Answer, type TestPilvi } from "../support/pilvi/pilvi.ts";

/** How long a machine under kills may take for anything. */
const PATIENCE_MS = 60_000;

/** A kind, and how an instance of it is made. */
export interface SleepyKind {
  name: string;
  make(pilvi: TestPilvi): Promise<Resource>;
}

/** A cache that hibernates, after longer than any test lasts. */
const cache = (policy: string) => (pilvi: TestPilvi) =>
  pilvi.createCache({ uses_hibernation: true, hibernation_timeout: 60, eviction_policy: policy });

/** Instances that fall asleep by themselves do so soon, when a test asks for that. */
export function sleepyKinds(suspendSeconds = 3_600): SleepyKind[] {
  const config = { suspend_seconds: suspendSeconds };
  return [
    { name: "Postgres", make: (pilvi) => createCluster(pilvi, { type: POSTGRES, config }) },
    { name: "MySQL", make: (pilvi) => createCluster(pilvi, { type: MYSQL, config }) },
    { name: "a cache that keeps every key", make: cache("noeviction") },
    { name: "a cache that may drop keys", make: cache("allkeys-lru") },
  ];
}

/** What a single-resource answer holds, or an error. */
interface Document {
  data: Resource;
  message?: string;
}

/** The path of the resource in the API. */
export function pathOf({ id, type }: Resource): string {
  return type === "caches" ? `/caches/${id}` : `/databases/clusters/${id}`;
}

export async function read(pilvi: TestPilvi, resource: Resource): Promise<Resource> {
  const { status, body } = await pilvi.api<Document>("GET", pathOf(resource));
  if (status !== 200) throw new Error(`${resource.id} cannot be read: ${status} ${JSON.stringify(body)}`);
  return body.data;
}

/** Requests its suspend, once. */
export function suspend(pilvi: TestPilvi, resource: Resource): Promise<Answer<Document>> {
  return pilvi.api<Document>("POST", `${pathOf(resource)}/suspend`);
}

/** Requests its suspend until it is granted, which may take a moment after a kill, and checks that it sleeps. */
export async function putToSleep(pilvi: TestPilvi, resource: Resource): Promise<void> {
  let answer = "nothing";
  try {
    await until(
      `${resource.id} sleeps`,
      async () => {
        const { status, body } = await suspend(pilvi, resource);
        answer = `${status} ${body.message ?? ""}`;
        return status === 200;
      },
      PATIENCE_MS,
    );
  } catch (cause) {
    throw new Error(`${resource.id} does not sleep: ${answer}`, { cause });
  }
  await expectAsleep(pilvi, resource);
}

/** No process, the same address, available. */
export async function expectAsleep(pilvi: TestPilvi, resource: Resource): Promise<void> {
  const { attributes, meta } = await read(pilvi, resource);
  expect([resource.id, meta.sleep.state]).toEqual([resource.id, "asleep"]);
  expect(attributes.connection).toEqual(resource.attributes.connection);
  expect(processesOf(pilvi, resource.id)).toEqual([]);
  expect(pilvi.enginePids(resource.id)).toEqual([]);
  // The report of a crash before its sleep may still be on its way.
  const isAvailable = async () => (await read(pilvi, resource)).attributes.status === "available";
  await until(`${resource.id} is available`, isAvailable);
}

/** One engine, the same address, available. */
export async function untilAwake(pilvi: TestPilvi, resource: Resource): Promise<void> {
  await until(
    `${resource.id} is awake`,
    async () => {
      const { attributes, meta } = await read(pilvi, resource);
      const isAwake = meta.sleep.state === "awake" && attributes.status === "available";
      return isAwake && pilvi.enginePids(resource.id).length === 1;
    },
    PATIENCE_MS,
  );
  expect((await read(pilvi, resource)).attributes.connection).toEqual(resource.attributes.connection);
}

/** Whether its manifest says asleep, and no process of an engine is left; the API may be away meanwhile. */
export function isRecordedAsleep(pilvi: TestPilvi, id: string): boolean {
  const manifest = readManifest(instanceFolder(pilvi.dataDir, id).manifest);
  return saysAsleep(manifest) && processesOf(pilvi, id).length === 0;
}

/**
 * Waits until the API says asleep or awake, and the kernel agrees; the report of a kill takes a moment.
 * @returns which.
 */
export async function untilSettled(pilvi: TestPilvi, resource: Resource): Promise<"asleep" | "awake"> {
  let state: string | undefined;
  await until(
    `${resource.id} sleeps or is awake`,
    async () => {
      const now = await read(pilvi, resource).catch(() => null);
      state = now?.attributes.status === "available" ? now.meta.sleep.state : undefined;
      const engines = pilvi.enginePids(resource.id).length;
      return (state === "asleep" && engines === 0) || (state === "awake" && engines === 1);
    },
    PATIENCE_MS,
  );
  return state === "asleep" ? "asleep" : "awake";
}
