// Resources on several hosts: each has the driver, the address and the port range of its own host.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Driver } from "../../src/drivers/driver.ts";
import { reconcileCache } from "../../src/resources/caches/reconciler.ts";
import type { KindContext } from "../../src/resources/kind.ts";
import { hostDirectory, servedHost } from "../../src/resources/shared/hosts.ts";
import { WatchedStates } from "../../src/resources/shared/observed-states.ts";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";

const OTHER = "host-2";

let api: TestApi;
let context: KindContext;
let driver: Driver;
let id: string;

beforeAll(async () => {
  api = await startApi();
  await api.db`insert into hosts (id, name) values (${OTHER}, 'another')`;
  driver = { ...api.host.driver };
  const hostnames = { loopback: "127.0.0.2", public: "another.example" };
  const portRange = { first: 23_000, last: 23_000 };
  const other = servedHost({ id: OTHER, driver, hostnames, isTls: true, portRange }, new WatchedStates());
  context = { ...api.context, hosts: hostDirectory([api.host, other]) };
  // The API of the test has the directory in its context already.
  api.context.hosts = context.hosts;
  id = (await create()).id;
  await api.db`update caches set host_id = ${OTHER}, is_public = true, status = 'available' where id = ${id}`;
});
afterAll(() => api.stop());

async function create(): Promise<{ id: string; attributes: { connection: Record<string, unknown> } }> {
  const response = await api.request("/api/caches", { json: validCache });
  return ((await response.json()) as { data: Awaited<ReturnType<typeof create>> }).data;
}

async function read(which: string) {
  const response = await api.request(`/api/caches/${which}`);
  return ((await response.json()) as { data: Awaited<ReturnType<typeof create>> }).data;
}

test("a cache has the host names of its own host, with that host's TLS", async () => {
  const { attributes } = await read(id);
  expect(attributes.connection).toMatchObject({ hostname: "another.example", protocol: "rediss" });
});

test("a reconciler calls the driver of the resource's own host", async () => {
  const asked: string[] = [];
  driver.observe = async (which) => {
    asked.push(which);
    throw new Error("the other host was asked");
  };
  const run = reconcileCache(context)(id, AbortSignal.timeout(5_000));
  await expect(run).rejects.toThrow("the other host was asked");
  expect(asked).toEqual([id]);
});

test("the observed states of one driver stay when another driver's are forgotten", () => {
  const seen = { state: "running", since: "2026-03-15T08:18:53.204Z", engine: null, limits: null } as const;
  const [first, second] = context.hosts.all.map((host) => host.observedStates as WatchedStates);
  first?.note({ id: "cache-1", ...seen, lastError: null, crashes: 0, sleep: null });
  second?.note({ id: "cache-2", ...seen, lastError: null, crashes: 0, sleep: null });
  first?.keepOnly(["cache-1"]);
  expect(second?.of("cache-2")?.state).toBe("running");
  second?.keepOnly([]);
  expect([first?.of("cache-1")?.state, second?.of("cache-2")]).toEqual(["running", undefined]);
});

test("a cache of a host that is not served can be read, and its driver refuses every call", async () => {
  const [{ id: stray }] = [await create()];
  await api.db`insert into hosts (id, name) values ('host-3', 'gone')`;
  await api.db`update caches set host_id = 'host-3', status = 'available' where id = ${stray}`;
  expect((await read(stray)).attributes.connection).toMatchObject({ hostname: "127.0.0.1" });
  const run = reconcileCache(context)(stray, AbortSignal.timeout(5_000));
  await expect(run).rejects.toThrow("This Pilvi does not serve the host host-3.");
});

test("a new cache gets a port although its host does not answer", async () => {
  const { freePorts } = api.host.driver;
  api.host.driver.freePorts = () => Promise.reject(new Error("the host is away"));
  expect((await create()).attributes.connection["port"]).toBeNumber();
  api.host.driver.freePorts = freePorts;
});
