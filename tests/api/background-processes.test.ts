// Background processes and instances of environments through the API: what is kept, and what is refused.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ApplicationResource } from "../../src/resources/applications/schema.ts";
import { startApi, type TestApi } from "../support/api/api.ts";

interface Answer {
  id: string;
  attributes: Record<string, unknown>;
  relationships: Record<string, { data: { id: string }[] }>;
  meta: Record<string, unknown>;
}

let api: TestApi;
let environment: string;
let instance: string;

beforeAll(async () => {
  api = await startApi();
  const json = { name: "Web shop", region: "eu-central-1" };
  const answer = await api.request("/api/applications", { method: "POST", json });
  const { data } = (await answer.json()) as { data: ApplicationResource };
  environment = `/environments/${data.relationships.environments.data[0]?.id}`;
  const listed = await ask<{ data: Answer[] }>("GET", `${environment}/instances`);
  instance = `/instances/${listed.body.data[0]?.id}`;
});

afterAll(async () => await api.stop());

async function ask<Body = { data: Answer; errors: Record<string, string[]> }>(
  method: string,
  path: string,
  json?: object,
): Promise<{ status: number; body: Body }> {
  const response = await api.request(`/api${path}`, { method, ...(json && { json }) });
  const text = await response.text();
  return { status: response.status, body: text === "" ? ({} as Body) : JSON.parse(text) };
}

async function refused(method: string, path: string, json?: object): Promise<string[]> {
  const { status, body } = await ask(method, path, json);
  expect(status).toBe(422);
  return Object.keys(body.errors);
}

/** Orders a sleep of the serving instance. @returns the minutes that its environment shows; null when it stays awake. */
async function sleepAfter(order: object): Promise<unknown> {
  expect((await ask("PATCH", instance, order)).status).toBe(200);
  const { attributes, meta } = (await ask("GET", environment)).body.data;
  return attributes["uses_hibernation"] ? meta["sleep_timeout"] : null;
}

test("a background process is created, listed, changed and deleted", async () => {
  const path = `${instance}/background-processes`;
  const order = { type: "custom", processes: 2, command: "node worker.js" };
  const { status, body } = await ask("POST", path, order);
  expect(status).toBe(201);
  expect(body.data.id).toMatch(/^process-/);
  expect(body.data.attributes).toMatchObject({ ...order, config: [], strategy_type: "none" });
  expect(body.data.meta).toEqual({ procfile_name: null, running: 0, last_error: null });
  const item = `/background-processes/${body.data.id}`;
  expect((await ask<{ data: Answer[] }>("GET", path)).body.data.map(({ id }) => id)).toEqual([body.data.id]);
  const { data } = (await ask("GET", instance)).body;
  expect(data.relationships["backgroundProcesses"]?.data.map(({ id }) => id)).toEqual([body.data.id]);
  const worker = {
    type: "worker",
    config: { connection: "redis", queue: "high,low", tries: 3, force: true },
  };
  const changed = await ask("PATCH", item, worker);
  expect(changed.body.data.attributes).toMatchObject({
    ...worker,
    processes: 2,
    command: "php artisan queue:work redis --queue=high,low --tries=3 --force",
  });
  expect((await ask("DELETE", item)).status).toBe(204);
  expect((await ask("GET", item)).status).toBe(404);
});

test("members that do not go together are refused by their names", async () => {
  const path = `${instance}/background-processes`;
  const custom = { type: "custom", processes: 1, command: "node worker.js" };
  expect(await refused("POST", path, { type: "custom", processes: 1 })).toEqual(["command"]);
  expect(await refused("POST", path, { ...custom, type: "worker" })).toEqual(["command"]);
  expect(await refused("POST", path, { ...custom, processes: 11 })).toEqual(["processes"]);
  expect(await refused("POST", path, { ...custom, config: { tries: 1 } })).toEqual(["config"]);
  const config = { queue: "a; reboot" };
  expect(await refused("POST", path, { type: "worker", processes: 1, config })).toEqual(["config.queue"]);
});

test("an instance is scaled within the bound of its environment", async () => {
  expect((await ask("GET", instance)).body.data.attributes).toMatchObject({
    scaling_type: "none",
    max_replicas: 1,
  });
  const two = { scaling_type: "custom", min_replicas: 2, max_replicas: 2 };
  expect((await ask("PATCH", instance, two)).body.data.attributes).toMatchObject(two);
  expect((await ask("PATCH", instance, { size: "flex.g-1vcpu-512mb" })).body.data.attributes).toMatchObject(
    two,
  );
  expect(await refused("PATCH", instance, { min_replicas: 1, max_replicas: 2 })).toEqual(["max_replicas"]);
  expect(await refused("PATCH", instance, { scaling_type: "none", min_replicas: 2 })).toEqual([
    "scaling_type",
  ]);
  const custom = { type: "custom", processes: 10, command: "node worker.js" };
  const first = await ask("POST", `${instance}/background-processes`, custom);
  expect(first.status).toBe(201);
  expect((await ask("POST", `${instance}/background-processes`, custom)).status).toBe(201);
  expect(await refused("POST", `${instance}/background-processes`, custom)).toEqual(["processes"]);
  expect(await refused("PATCH", instance, { min_replicas: 3 })).toEqual(["max_replicas"]);
  expect((await ask("PATCH", instance, { scaling_type: "none" })).body.data.attributes["min_replicas"]).toBe(
    1,
  );
});

test("the scheduler is turned on and off with its instance, once in an environment", async () => {
  const usesScheduler = async (path: string) =>
    (await ask("GET", path)).body.data.attributes["uses_scheduler"];
  const list = async (path: string) =>
    (await ask<{ data: Answer[] }>("GET", `${path}/background-processes`)).body.data;
  const others = (await list(instance)).length;
  expect(await usesScheduler(instance)).toBe(false);
  for (let asked = 0; asked < 2; asked += 1)
    expect(await ask("PATCH", instance, { uses_scheduler: true })).toMatchObject({
      status: 200,
      body: { data: { attributes: { uses_scheduler: true, max_replicas: 1 } } },
    });
  await ask("PATCH", instance, { name: "Shop" });
  expect(await usesScheduler(instance)).toBe(true);
  const processes = await list(instance);
  expect(processes).toHaveLength(others + 1);
  const scheduler = processes.find(({ attributes }) => attributes["type"] === "scheduler");
  expect(scheduler).toMatchObject({
    attributes: { processes: 1, command: "php artisan schedule:run", config: [] },
    meta: { procfile_name: null, running: 0, last_error: null },
  });
  const item = `/background-processes/${scheduler?.id}`;
  expect(await refused("PATCH", item, { processes: 2 })).toEqual(["id"]);
  expect(await refused("DELETE", item)).toEqual(["id"]);
  const custom = { type: "scheduler", processes: 1, command: "php artisan schedule:run" };
  expect(await refused("POST", `${instance}/background-processes`, custom)).toEqual(["type"]);
  const order = { name: "Jobs", type: "service", size: "flex.c-1vcpu-256mb", scaling_type: "none" };
  const path = `${environment}/instances`;
  expect(await refused("POST", path, { ...order, uses_scheduler: true })).toEqual(["uses_scheduler"]);
  expect((await ask("PATCH", instance, { uses_scheduler: false })).status).toBe(200);
  expect([await usesScheduler(instance), (await list(instance)).length]).toEqual([false, others]);
  const jobs = await ask("POST", path, { ...order, uses_scheduler: true });
  expect(jobs.body.data.attributes["uses_scheduler"]).toBe(true);
  expect(await refused("PATCH", instance, { uses_scheduler: true })).toEqual(["uses_scheduler"]);
  await ask("DELETE", `/instances/${jobs.body.data.id}`);
  expect((await ask("PATCH", instance, { name: "App", uses_scheduler: true })).status).toBe(200);
  await ask("PATCH", instance, { uses_scheduler: false });
});

test("the scheduler counts once beside replicas, and is refused without a place", async () => {
  const sizes = async (count: number) =>
    await ask("PATCH", instance, { scaling_type: "custom", min_replicas: count, max_replicas: count });
  const processes = (await ask<{ data: Answer[] }>("GET", `${instance}/background-processes`)).body.data;
  await Promise.all(processes.map(async ({ id }) => await ask("DELETE", `/background-processes/${id}`)));
  const order = { type: "custom", processes: 4, command: "node worker.js" };
  const { body } = await ask("POST", `${instance}/background-processes`, order);
  expect((await sizes(10)).status).toBe(200);
  expect(await refused("PATCH", instance, { uses_scheduler: true })).toEqual(["uses_scheduler"]);
  expect((await sizes(9)).status).toBe(200);
  expect((await ask("PATCH", instance, { uses_scheduler: true })).status).toBe(200);
  expect(await refused("PATCH", instance, { max_replicas: 10, min_replicas: 10 })).toEqual(["max_replicas"]);
  await ask("DELETE", `/background-processes/${body.data.id}`);
  await ask("PATCH", instance, { scaling_type: "none", uses_scheduler: false });
});

test("a service instance is created and deleted, and the instance that serves stays", async () => {
  const order = { name: "Workers", type: "service", size: "flex.c-1vcpu-256mb", scaling_type: "none" };
  const { status, body } = await ask("POST", `${environment}/instances`, order);
  expect(status).toBe(201);
  expect(body.data.attributes).toMatchObject(order);
  expect(await refused("POST", `${environment}/instances`, order)).toEqual(["name"]);
  expect(await refused("PATCH", `/instances/${body.data.id}`, { name: "App" })).toEqual(["name"]);
  expect((await ask("DELETE", `/instances/${body.data.id}`)).status).toBe(204);
  expect((await ask("GET", `/instances/${body.data.id}`)).status).toBe(404);
  expect(await refused("DELETE", instance)).toEqual(["id"]);
});

test("the serving instance takes the sleep of its environment, and the newer member wins", async () => {
  expect(await sleepAfter({ hibernation_timeout: 7 })).toBe(7);
  expect(await sleepAfter({ size: "flex.g-1vcpu-512mb" })).toBe(7);
  expect(await sleepAfter({ hibernation_timeout: null, uses_sleep_mode: true })).toBe(null);
  expect(await sleepAfter({ uses_sleep_mode: true })).toBe(7);
  expect(await sleepAfter({ sleep_timeout: 9 })).toBe(9);
  expect(await sleepAfter({ hibernation_timeout: 60, sleep_timeout: 9 })).toBe(60);
  for (const order of [{ hibernation_timeout: 61 }, { sleep_timeout: 0 }, { uses_sleep_mode: "no" }])
    expect(await refused("PATCH", instance, order)).toEqual(Object.keys(order));
});

test("a sleep is refused where none serves, and its end where a wake interval needs it", async () => {
  const order = { name: "Mailers", type: "service", size: "flex.c-1vcpu-256mb", scaling_type: "none" };
  const { id } = (await ask("POST", `${environment}/instances`, order)).body.data;
  expect(await refused("PATCH", `/instances/${id}`, { hibernation_timeout: 5 })).toEqual([
    "hibernation_timeout",
  ]);
  expect((await ask("PATCH", environment, { hibernation_wake_up_interval: 60 })).status).toBe(200);
  expect(await refused("PATCH", instance, { uses_sleep_mode: false })).toEqual(["uses_sleep_mode"]);
  expect((await ask("PATCH", environment, { hibernation_wake_up_interval: null })).status).toBe(200);
  expect((await ask("DELETE", `/instances/${id}`)).status).toBe(204);
});

test("a list of instances is filtered, also with values one by one, and refuses filters that it does not have", async () => {
  const order = { name: "Jobs", type: "service", size: "flex.g-1vcpu-512mb", scaling_type: "none" };
  expect((await ask("POST", `${environment}/instances`, order)).status).toBe(201);
  const listed = async (query: string) => {
    const { body } = await ask<{ data: Answer[] }>("GET", `${environment}/instances?${query}`);
    return body.data.map(({ attributes }) => attributes["name"]);
  };
  expect(await listed("filter[name]=Jobs")).toEqual(["Jobs"]);
  expect(await listed("filter[type]=service")).toEqual(["Jobs"]);
  expect(await listed("filter[type]=service&filter[type]=app")).toEqual(["App", "Jobs"]);
  expect(await listed("filter[size]=flex.g-1vcpu-512mb&filter[scaling_type]=custom")).toEqual([]);
  for (const path of [
    `${environment}/instances?filter[cpu]=1`,
    `${instance}/background-processes?filter[name]=a`,
  ])
    expect((await ask("GET", path)).status).toBe(400);
});
