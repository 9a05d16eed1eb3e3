// Requests that are held until a status is reached.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { StatusWaiters } from "../../src/api/operation/wait.ts";
import { createLog } from "../../src/lib/log.ts";
import { notify } from "../../src/store/notifications.ts";
import { eraseCache } from "../../src/resources/caches/store.ts";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";
import { until } from "../support/pilvi/pilvi.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const never = new AbortController().signal;
const A = { id: "a", view: "all" };

/** A value that changes, and a promise that resolves at the first read of the value. */
function watchedValue() {
  const looked = Promise.withResolvers<void>();
  const subject = { value: "old", looks: 0, firstLook: looked.promise };
  const read = async () => {
    subject.looks += 1;
    looked.resolve();
    return subject.value;
  };
  return { subject, read };
}

async function listening(maxWaitMs?: number): Promise<StatusWaiters> {
  const waiters = new StatusWaiters(maxWaitMs);
  await waiters.listen(api.db, createLog("test", "silent"));
  return waiters;
}

const isNew = (value: string) => value === "new";

describe("a held request", () => {
  test("is woken by the store, and by changes of its own resource alone", async () => {
    const waiters = await listening();
    const { subject, read } = watchedValue();
    const held = waiters.until(A, read, isNew, never);
    await subject.firstLook;
    await notify(api.db, "status", "b");
    subject.value = "new";
    await notify(api.db, "status", "a");
    expect(await held).toBe("new");
    expect(subject.looks).toBe(2);
    expect(waiters.count).toBe(0);
    await waiters.close();
  });

  test("shares the reading after a change with others of the same view that were held then", async () => {
    const waiters = await listening();
    const { subject, read } = watchedValue();
    const held = Array.from({ length: 10 }, () => waiters.until(A, read, isNew, never));
    const other = watchedValue();
    const elsewhere = waiters.until({ id: "a", view: "other" }, other.read, isNew, never);
    await until("all have read", () => subject.looks === 10 && other.subject.looks === 1);
    subject.value = "new";
    await notify(api.db, "status", "a");
    expect(await Promise.all(held)).toEqual(held.map(() => "new"));
    await until("the other has read", () => other.subject.looks === 2);
    expect(subject.looks).toBe(11);
    other.subject.value = "new";
    await notify(api.db, "status", "a");
    expect(await elsewhere).toBe("new");
    expect(waiters.count).toBe(0);
    await waiters.close();
  });

  test("that comes during a reading for others is not answered with what was read before", async () => {
    const waiters = await listening();
    const begun = Promise.withResolvers<void>();
    const reading = Promise.withResolvers<string>();
    const answers = [async () => "old", () => (begun.resolve(), reading.promise)];
    const first = waiters.until(A, () => (answers.shift() ?? (async () => "new"))(), isNew, never);
    await until("the first has read", () => answers.length === 1);
    await notify(api.db, "status", "a");
    await begun.promise;
    const { subject, read } = watchedValue();
    subject.value = "older";
    const late = waiters.until(A, read, (value) => value === "old" || isNew(value), never);
    await subject.firstLook;
    reading.resolve("old");
    subject.value = "new";
    await notify(api.db, "status", "a");
    expect([await first, await late]).toEqual(["new", "new"]);
    await waiters.close();
  });

  test("fails when the reading after a change fails", async () => {
    const waiters = await listening();
    const answers = [async () => "old", async () => Promise.reject(new Error("the store is away"))];
    const held = waiters
      .until(A, () => (answers.shift() ?? (async () => "new"))(), isNew, never)
      .catch((error: Error) => error.message);
    await until("it has read", () => answers.length === 1);
    await notify(api.db, "status", "a");
    expect(await held).toBe("the store is away");
    await waiters.close();
  });

  test("reads the status again after a lost connection to the store", async () => {
    const waiters = await listening();
    const { subject, read } = watchedValue();
    const held = waiters.until(A, read, isNew, never);
    await subject.firstLook;
    subject.value = "new";
    await api.db`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query ilike 'listen%' and pid <> pg_backend_pid()`;
    expect(await held).toBe("new");
    await waiters.close();
  });

  test("ends with its client, with its time limit, and with the process", async () => {
    const waiters = await listening();
    const client = new AbortController();
    const abandoned = waiters.until(A, watchedValue().read, isNew, client.signal);
    client.abort();
    expect(await abandoned).toBe("old");
    const hasty = await listening(1);
    expect(await hasty.until(A, watchedValue().read, isNew, never)).toBe("old");
    const last = waiters.until(A, watchedValue().read, isNew, never);
    await waiters.close();
    await hasty.close();
    expect(await last).toBe("old");
    expect(waiters.count + hasty.count).toBe(0);
  });
});

const create = async () => {
  const response = await api.request("/api/caches", { json: validCache });
  return ((await response.json()) as { data: { id: string } }).data.id;
};

describe("GET /caches/:id?wait=", () => {
  test("answers when the status is reached", async () => {
    const id = await create();
    const held = api.request(`/api/caches/${id}?wait=available`);
    await api.db.begin(async (tx) => {
      await tx`update caches set status = 'available' where id = ${id}`;
      await notify(tx, "status", id);
    });
    expect(await (await held).json()).toMatchObject({ data: { attributes: { status: "available" } } });
  });

  test("answers at once when the status is reached already", async () => {
    expect((await api.request(`/api/caches/${await create()}?wait=creating`)).status).toBe(200);
  });

  test.each(["available", "deleted"])("%s answers 404 when the cache is gone", async (status) => {
    const id = await create();
    const held = api.request(`/api/caches/${id}?wait=${status}`);
    await api.db.begin((tx) => eraseCache(tx, id));
    expect((await held).status).toBe(404);
  });

  test("answers with the present state at its time limit", async () => {
    const hasty = await startApi({ maxWaitMs: 1 });
    const response = await hasty.request("/api/caches", { json: validCache });
    const { id } = ((await response.json()) as { data: { id: string } }).data;
    const waited = await hasty.request(`/api/caches/${id}?wait=available`);
    expect(waited.status).toBe(200);
    expect(await waited.json()).toMatchObject({ data: { attributes: { status: "creating" } } });
    await hasty.stop();
  });

  test("ends when its client disconnects", async () => {
    const client = new AbortController();
    const held = api.request(`/api/caches/${await create()}?wait=available`, { signal: client.signal });
    const untilHeld = async (count: number) => {
      const line = `pilvi_held_requests ${count}\n`;
      while (!(await (await api.request("/metrics")).text()).includes(line));
    };
    await untilHeld(1);
    client.abort();
    await expect(held).rejects.toThrow();
    await untilHeld(0);
  });

  test("refuses an unknown status", async () => {
    const response = await api.request(`/api/caches/${await create()}?wait=ready`);
    expect(response.status).toBe(422);
    expect(Object.keys(((await response.json()) as { errors: object }).errors)).toEqual(["wait"]);
  });
});
