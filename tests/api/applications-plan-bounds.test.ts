// Plans at the bounds: how many are made at the same time, what each reads, and the room of the disk and of the quota.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { DISK_FLOOR } from "../../src/lib/disk-floor.ts";
import { tarOf } from "../../src/sources/test-support.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { deploymentsOf, newApplication, RUNTIMES, SOURCE, upload } from "../support/api/applications-api.ts";
import { until } from "../support/pilvi/pilvi.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ mayReachItself: true });
  api.offer.runtimes = RUNTIMES;
});
afterAll(() => api.stop());

/** A server of git that answers no request. */
function silentServer(): { url: string } & Disposable {
  const { promise: never } = Promise.withResolvers<Response>();
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => never });
  return {
    url: `http://127.0.0.1:${server.port}/app.git`,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

test("a fifth plan at the same time is refused until another has ended, and other organizations have plans", async () => {
  using server = silentServer();
  const { environmentId } = await newApplication(api, { name: "Fetched", repository: server.url });
  const own = await newApplication(api);
  await upload(api, `/environments/${own.environmentId}/uploads`);
  const token = await api.newToken(["*"], "others");
  const other = await newApplication(api, { token });
  await upload(api, `/environments/${other.environmentId}/uploads`, undefined, { token });
  const planOf = (id: string, init = {}) => api.request(`/api/environments/${id}/plan`, init);
  const clients = new AbortController();
  const waiting = Array.from({ length: 5 }, () => planOf(environmentId, { signal: clients.signal }));

  const refused = await Promise.race(waiting);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("5");
  expect(await refused.json()).toMatchObject({
    message: "Too many plans run at the same time. Try again when one has ended.",
  });
  expect((await planOf(own.environmentId)).status).toBe(429);
  expect((await planOf(other.environmentId, { token })).status).toBe(200);

  clients.abort();
  await Promise.allSettled(waiting);
  await until("there is room again", async () => (await planOf(own.environmentId)).status === 200);
});

/** The answer to a plan of a source with large files. */
async function planned(paths: string[]): Promise<[status: number, fault: string | undefined]> {
  const entries = paths.map((path) => ({ path, content: " ".repeat(1 << 20) }));
  const bytes = Bun.gzipSync(tarOf([...SOURCE, ...entries]));
  const headers = { "content-type": "application/gzip" };
  const { status, body } = await upload(api, "/plans", bytes, { headers });
  return [status, body.errors?.source?.[0]];
}

test("a source whose files for a plan have more than 24 MiB together is refused", async () => {
  const endings = ["js", "mjs", "cjs", "ts", "mts"];
  const names = ["next", "nuxt", "astro", "svelte", "vite"].flatMap((name) =>
    endings.map((ending) => `${name}.config.${ending}`),
  );
  expect(await planned(names.slice(0, 20))).toEqual([200, undefined]);
  expect(await planned(names)).toEqual([422, "The files to read are too large together."]);
});

/** The folders of sources of plans. */
async function scratchFolders(applicationId: string): Promise<string[]> {
  const { path } = await api.context.repositories.of(applicationId);
  return readdirSync(dirname(path)).filter((name) => name.startsWith("scratch-"));
}

const DISK_FULL =
  "The disk of the machine is nearly full, so no sources are taken. Try again when there is room.";

test("uploads, plans, pushes and fetches are refused while the disk is nearly full, and leave nothing", async () => {
  const { id, environmentId } = await newApplication(api);
  using server = silentServer();
  const fetched = await newApplication(api, { name: "Elsewhere", repository: server.url });
  const push = `/git/${id}.git/info/refs?service=git-receive-pack`;
  const floor = { ...DISK_FLOOR };
  Object.assign(DISK_FLOOR, { bytes: Infinity, share: 2 });
  try {
    for (const address of [
      "/plans",
      `/environments/${environmentId}/plans`,
      `/environments/${environmentId}/uploads`,
    ]) {
      const { status, body } = await upload(api, address);
      expect([address, status, body.message]).toEqual([address, 503, DISK_FULL]);
    }
    for (const address of [push, `/api/environments/${fetched.environmentId}/plan`]) {
      const answer = await api.request(address);
      expect([address, answer.status]).toEqual([address, 503]);
      expect(await answer.text()).toContain(DISK_FULL);
    }
  } finally {
    Object.assign(DISK_FLOOR, floor);
  }
  expect(await scratchFolders(id)).toEqual([]);
  expect(await deploymentsOf(api, environmentId)).toEqual([]);
  expect((await upload(api, "/plans")).status).toBe(200);
  expect((await api.request(push)).status).toBe(200);
});

test("a plan of an upload is refused where the storage of the organization is full", async () => {
  const { id, environmentId } = await newApplication(api);
  await upload(api, `/environments/${environmentId}/uploads`);
  const { quotas } = api.context;
  quotas.storageBytes = 1;
  try {
    for (const address of ["/plans", `/environments/${environmentId}/plans`]) {
      const { status, body } = await upload(api, address);
      expect([address, status]).toEqual([address, 422]);
      expect(body.errors?.source?.[0]).toStartWith("The organization may have 1b of storage and has ");
    }
  } finally {
    quotas.storageBytes = 0;
  }
  expect(await scratchFolders(id)).toEqual([]);
});
