// Environments take their part of the quotas: each counts as a resource, with the memory of its processes.
import { afterEach, describe, expect, test } from "bun:test";
import type { TokenLimits } from "../../src/api/auth/tokens.ts";
import { PublicError } from "../../src/lib/errors.ts";
import type { Quotas } from "../../src/lib/quota-settings.ts";
import { followProcfile } from "../../src/resources/applications/background-processes/store.ts";
import {
  assertReleaseFits,
  reallocateRelease,
} from "../../src/resources/applications/environments/allocation.ts";
import { eraseEnvironment, loadEnvironment } from "../../src/resources/applications/environments/store.ts";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";
import { ask } from "../support/api/resources-api.ts";

const MEBIBYTE = 1024 ** 2;
const GIBIBYTE = 1024 ** 3;
const LARGE = "flex.g-2vcpu-1gb";

interface Amount {
  limit: number | null;
  used: number;
}

interface Organization {
  data: { meta: { quotas: Record<string, Amount>; token: { quotas: Record<string, Amount> } } };
}

let api: TestApi;
afterEach(async () => {
  await expectTrueSums();
  await api.stop();
});

const start = async (quotas: Partial<Quotas> = {}) => void (api = await startApi({ quotas }));

const limited = (limits: TokenLimits) => api.newToken(["*"], "default", limits);

const createApplication = (name: string, token = api.token) =>
  ask(api, "/api/applications", { json: { name, region: "eu-central-1" }, token });

const createEnvironment = (application: string, name: string, token = api.token) =>
  ask(api, `/api/applications/${application}/environments`, { json: { name, branch: name }, token });

/** An application with its first environment, and the instance that serves it. */
async function made(token = api.token): Promise<{ id: string; environment: string; instance: string }> {
  const { status, body } = await createApplication("Web shop", token);
  expect(status).toBe(201);
  const [row] = await api.db<{ environment: string; instance: string }[]>`
    select e.id as environment, g.id as instance from environments e
    join process_groups g on g.environment_id = e.id where e.application_id = ${body.data.id}`;
  return { id: body.data.id, environment: row?.environment ?? "", instance: row?.instance ?? "" };
}

const change = (instance: string, json: object, token = api.token) =>
  ask(api, `/api/instances/${instance}`, { method: "PATCH", json, token });

const replicas = (count: number) => ({ min_replicas: count, max_replicas: count });

const worker = (processes: number) => ({ type: "custom", processes, command: "node mail.js" });

async function shown(token = api.token): Promise<Organization["data"]["meta"]> {
  const response = await api.request("/api/meta/organization", { token });
  return ((await response.json()) as Organization).data.meta;
}

async function used(): Promise<
  Record<"applications" | "resources", number | undefined> & { mebibytes: number }
> {
  const { applications, resources, memory_bytes } = (await shown()).quotas;
  return {
    applications: applications?.used,
    resources: resources?.used,
    mebibytes: (memory_bytes?.used ?? 0) / MEBIBYTE,
  };
}

async function erase(environment: string): Promise<void> {
  const row = await loadEnvironment(api.db, environment);
  if (row === undefined) throw new Error("no environment");
  await api.db.begin((tx) => eraseEnvironment(tx, row));
}

/** The sums must equal a count of all rows, and each environment have one. */
async function expectTrueSums(): Promise<void> {
  const counted = await api.db`
    select o.owner, count(*)::int as count, sum(memory_bytes)::float8 as memory
    from allocations cross join lateral (values (organization_id), (token_id)) as o (owner)
    where kind = 'environments' and o.owner is not null group by o.owner order by o.owner`;
  const kept = await api.db`
    select owner, applications::int as count, memory_bytes::float8 as memory
    from quota_usage where applications <> 0 and caches = 0 order by owner`;
  for (const sums of kept) expect([...counted]).toContainEqual(sums);
  const [rows] = await api.db`
    select (select count(*)::int from environments) as environments,
           (select count(*)::int from allocations where kind = 'environments') as allocations,
           (select coalesce(sum(applications), 0)::int from quota_usage where owner like 'org-%') as counted`;
  expect(rows).toEqual({
    environments: rows?.environments,
    allocations: rows?.environments,
    counted: rows?.environments,
  });
}

describe("an organization", () => {
  test("at its limit of resources gets no more environments, until a deleted one is wholly gone", async () => {
    await start({ resources: 3 });
    const { id, environment } = await made();
    expect((await createEnvironment(id, "staging")).status).toBe(201);
    expect((await ask(api, "/api/caches", { json: validCache })).status).toBe(201);
    const sentence =
      "The organization may have 3 resources and has 3. Delete something, or have the operator raise PILVI_QUOTA_RESOURCES.";
    const answers = [await createApplication("Second"), await createEnvironment(id, "third")];
    for (const { status, body } of answers)
      expect([status, body.errors]).toEqual([422, { name: [sentence] }]);
    expect((await ask(api, "/api/caches", { json: validCache })).body.errors).toEqual({ type: [sentence] });
    expect((await ask(api, "/api/applications")).body.data).toHaveLength(1);
    expect((await api.request(`/api/applications/${id}`, { method: "DELETE" })).status).toBe(204);
    expect((await createApplication("Second")).status).toBe(422);
    await erase(environment);
    expect((await createApplication("Second")).status).toBe(201);
  });

  test("at its limit of environments gets other kinds", async () => {
    await start({ applications: 1 });
    const { id } = await made();
    expect((await createEnvironment(id, "staging")).body.errors?.name?.[0]).toBe(
      "The organization may have 1 environments of applications and has 1. Delete something, or have the operator raise PILVI_QUOTA_APPLICATIONS.",
    );
    expect((await ask(api, "/api/caches", { json: validCache })).status).toBe(201);
    expect((await shown()).quotas.applications).toEqual({ limit: 1, used: 1 });
  });

  test("at its limit of memory gets neither a larger size nor more processes, and reads the field", async () => {
    await start({ memoryBytes: 1.5 * GIBIBYTE });
    const { environment, instance } = await made();
    expect(await used()).toEqual({ applications: 1, resources: 1, mebibytes: 512 });
    expect((await change(instance, { size: "flex.g-4vcpu-2gb" })).body.errors).toEqual({
      size: [
        "The organization may have 1.5gb of memory and has 512mb, and this takes 1.5gb more. Delete something, or have the operator raise PILVI_QUOTA_MEMORY.",
      ],
    });
    expect((await change(instance, replicas(4))).body.errors).toHaveProperty("max_replicas");
    expect((await change(instance, { min_replicas: 4 })).body.errors).toHaveProperty("min_replicas");
    expect((await change(instance, { size: LARGE, ...replicas(2) })).body.errors).toHaveProperty("size");
    expect((await change(instance, replicas(2))).status).toBe(200);
    const workers = `/api/instances/${instance}/background-processes`;
    // Each of them has the memory of the instance's size, beside each replica.
    const refused = await ask(api, workers, { json: worker(1) });
    expect(refused.body.errors).toHaveProperty("processes");
    expect((await change(instance, replicas(1))).status).toBe(200);
    const { status, body } = await ask(api, workers, { json: worker(1) });
    expect(status).toBe(201);
    expect((await used()).mebibytes).toBe(1024);
    const processes = `/api/background-processes/${body.data.id}`;
    const more = await ask(api, processes, { method: "PATCH", json: { processes: 3 } });
    expect(more.body.errors).toHaveProperty("processes");
    expect((await change(instance, { uses_scheduler: true })).status).toBe(200);
    expect((await used()).mebibytes).toBe(1536);
    expect((await change(instance, { uses_scheduler: false })).status).toBe(200);
    expect((await api.request(processes, { method: "DELETE" })).status).toBe(204);
    expect((await used()).mebibytes).toBe(512);
    const service = { name: "Mails", type: "service", size: LARGE, scaling_type: "none" };
    const added = await ask(api, `/api/environments/${environment}/instances`, { json: service });
    const ofService = `/api/instances/${added.body.data.id}`;
    await ask(api, `${ofService}/background-processes`, { json: worker(1) });
    expect((await used()).mebibytes).toBe(1536);
    expect((await createApplication("Second")).body.errors).toHaveProperty("name");
    expect((await api.request(ofService, { method: "DELETE" })).status).toBe(204);
    expect((await used()).mebibytes).toBe(512);
  });

  test("gets exactly as many environments at once as still fit", async () => {
    await start({ resources: 5 });
    const { id } = await made();
    const creates = Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0 ? createApplication(`App ${index}`) : createEnvironment(id, `env-${index}`),
    );
    const statuses = (await Promise.all(creates)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(4);
    expect(statuses.filter((status) => status === 422)).toHaveLength(16);
    expect(await used()).toMatchObject({ applications: 5, resources: 5 });
  });

  test("gets exactly the larger sizes at once that still fit", async () => {
    await start({ memoryBytes: 4 * 512 * MEBIBYTE });
    const { id, instance } = await made();
    await createEnvironment(id, "staging");
    const [other] = await api.db<{ id: string }[]>`select id from process_groups where id <> ${instance}`;
    const answers = await Promise.all(
      [instance, other?.id ?? ""].flatMap((each) => [2, 3].map((count) => change(each, replicas(count)))),
    );
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    expect((await used()).mebibytes).toBeLessThanOrEqual(4 * 512);
  });

  test("that has full storage gets no new environment", async () => {
    await start({ storageBytes: 1_000 });
    const { id, environment } = await made();
    await api.db`
      insert into allocations (resource_id, organization_id, kind, memory_bytes, storage_bytes)
      select ${`releases-${environment}`}, organization_id, 'applications', 0, 2000 from applications`;
    expect((await createEnvironment(id, "staging")).body.errors?.name?.[0]).toContain("PILVI_QUOTA_STORAGE");
    expect((await createApplication("Second")).body.errors?.name?.[0]).toContain("PILVI_QUOTA_STORAGE");
  });

  test("whose environment is deleted takes nothing any more", async () => {
    await start();
    const { environment, instance } = await made();
    await change(instance, { size: LARGE, ...replicas(3) });
    expect(await used()).toEqual({ applications: 1, resources: 1, mebibytes: 3 * 1024 });
    await erase(environment);
    expect(await used()).toEqual({ applications: 0, resources: 0, mebibytes: 0 });
  });
});

describe("a token's own limits", () => {
  test("count the environments that it made or made larger last", async () => {
    await start();
    const { id, instance } = await made();
    const token = await limited({ resources: 1, memoryBytes: GIBIBYTE });
    expect((await change(instance, replicas(3), token)).body.errors?.max_replicas?.[0]).toBe(
      "The token may have 1gb of memory and has 512mb, and this takes 1gb more. Delete something, or use a token that was made with a larger --max-memory.",
    );
    expect((await shown(token)).token.quotas.resources).toEqual({ limit: 1, used: 0 });
    expect((await change(instance, replicas(2), token)).status).toBe(200);
    expect((await shown(token)).token.quotas).toMatchObject({
      resources: { used: 1 },
      memory_bytes: { limit: GIBIBYTE, used: GIBIBYTE },
    });
    expect((await createEnvironment(id, "staging", token)).body.errors?.name?.[0]).toStartWith(
      "The token may have 1 resources and has 1.",
    );
    // A smaller one stays with the token, a larger one goes to the token of the change.
    expect((await change(instance, replicas(1))).status).toBe(200);
    expect((await shown(token)).token.quotas.resources?.used).toBe(1);
    expect((await change(instance, replicas(4))).status).toBe(200);
    expect((await shown(token)).token.quotas.resources?.used).toBe(0);
    expect((await createEnvironment(id, "staging", token)).status).toBe(201);
  });
});

describe("the Procfile of a release", () => {
  const lines = [{ name: "mails", command: "node mail.js", origin: "Procfile" }];

  /** Takes the processes of a release, as its rollout does. */
  const rollOut = (environment: string) =>
    api.db.begin(async (tx) => {
      await followProcfile(tx, environment, lines);
      await reallocateRelease(tx, api.context.quotas, environment);
    });

  test("takes memory for its processes, which count for the token of the environment", async () => {
    await start();
    const token = await limited({ memoryBytes: GIBIBYTE });
    const { environment } = await made(token);
    await rollOut(environment);
    expect((await shown(token)).token.quotas.memory_bytes?.used).toBe(GIBIBYTE);
  });

  test("is not held to the limits of a token that was revoked", async () => {
    await start();
    const token = await limited({ memoryBytes: 512 * MEBIBYTE });
    const { environment } = await made(token);
    expect(await rollOut(environment).catch((error: unknown) => error)).toBeInstanceOf(PublicError);
    await api.db`update tokens set revoked_at = now() where max_memory_bytes is not null`;
    await rollOut(environment);
    expect((await used()).mebibytes).toBe(1_024);
  });

  test("is refused before anything is changed where it would not fit", async () => {
    await start({ memoryBytes: 512 * MEBIBYTE });
    const { environment } = await made();
    const refused = await assertReleaseFits(api.context, environment, lines).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(PublicError);
    await assertReleaseFits(api.context, environment, []);
    expect(await api.db`select from background_processes`).toHaveLength(0);
    expect((await used()).mebibytes).toBe(512);
  });

  test("is refused where they do not fit, with a sentence for the reason of the failure", async () => {
    await start({ memoryBytes: 512 * MEBIBYTE });
    const { environment } = await made();
    const failure = await rollOut(environment).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PublicError);
    expect((failure as PublicError).message).toBe(
      "The processes of the Procfile do not fit. The organization may have 512mb of memory and has 512mb, and this takes 512mb more. Delete something, or have the operator raise PILVI_QUOTA_MEMORY.",
    );
    expect((await used()).mebibytes).toBe(512);
  });
});
