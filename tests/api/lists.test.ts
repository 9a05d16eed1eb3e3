// Reading, listing, paging, filtering, including and deleting caches.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eraseCache } from "../../src/resources/caches/store.ts";
import { freePorts } from "../../src/host/os/free-ports.ts";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";

interface List {
  data: { id: string; attributes: { name: string } }[];
  included?: unknown[];
  links: Record<string, string>;
  meta: { current_page: number; from: number | null; to: number | null; last_page: number; total: number };
}

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  for (const name of ["one", "two", "three"])
    await api.request("/api/caches", { json: { ...validCache, name } });
  const other = { type: "hosted_redis", name: "four", region: "us-east-1", size: "1gb" };
  await api.request("/api/caches", { json: other });
});
afterAll(() => api.stop());

async function list(
  query: string,
): Promise<{ status: number; body: List; message: string; fields: string[] }> {
  const response = await api.request(`/api/caches${query}`);
  const body = (await response.json()) as List & { message: string; errors?: object };
  return { status: response.status, body, message: body.message, fields: Object.keys(body.errors ?? {}) };
}

const names = ({ body }: { body: List }) => body.data.map(({ attributes }) => attributes.name);

describe("pages of a list of caches", () => {
  test("have neither a previous nor a next link when there is one page", async () => {
    const { status, body } = await list("");
    expect(status).toBe(200);
    expect(Object.keys(body.links).sort()).toEqual(["first", "last"]);
    expect(body.meta).toEqual({
      current_page: 1,
      from: 1,
      last_page: 1,
      links: [
        { url: null, label: "Previous", active: false },
        { url: `${api.origin}/api/caches?page=1`, label: "1", active: true },
        { url: null, label: "Next", active: false },
      ],
      path: `${api.origin}/api/caches`,
      per_page: 100,
      to: 4,
      total: 4,
    } as never);
  });

  test("show every cache once, in order, by the next links, which keep the other parameters", async () => {
    const seen: string[] = [];
    let query: string | undefined = "?per_page=1&filter[type]=platform_valkey";
    while (query !== undefined) {
      const page = await list(query);
      seen.push(...names(page));
      query = page.body.links.next && new URL(page.body.links.next).search;
    }
    expect(seen).toEqual(["one", "two", "three"]);
  });

  test("can be asked for with JSON:API's parameters", async () => {
    const page = await list("?page[number]=2&page[size]=3");
    expect(names(page)).toEqual(["four"]);
    expect(page.body.meta).toMatchObject({ current_page: 2, from: 4, to: 4, last_page: 2 });
    expect(new URL(page.body.links.prev ?? "").searchParams.get("page")).toBe("1");
  });

  test("beyond the end are empty", async () => {
    const { status, body } = await list("?page=2147483647");
    expect(status).toBe(200);
    expect(body.data).toEqual([]);
    expect(body.meta).toMatchObject({ from: null, to: null, total: 4, last_page: 1 });
  });

  test.each([
    ["page=0", "page"],
    ["page=-1", "page"],
    ["page=x", "page"],
    ["page=1.5", "page"],
    ["page=", "page"],
    ["page=99999999999", "page"],
    ["per_page=0", "per_page"],
    ["per_page=101", "per_page"],
    ["page[number]=a", "page[number]"],
    ["page[size]=1000", "page[size]"],
  ])("%s is refused", async (query, field) => {
    const { status, fields } = await list(`?${query}`);
    expect(status).toBe(422);
    expect(fields).toEqual([field]);
  });
});

describe("filters and includes of a list of caches", () => {
  test.each([
    ["?filter[type]=hosted_redis", ["four"]],
    ["?filter[type]=hosted_redis,platform_valkey", ["one", "two", "three", "four"]],
    ["?filter[region]=us-east-1", ["four"]],
    ["?filter[status]=available", []],
    ["?filter[status]=creating&filter[type]=platform_valkey", ["one", "two", "three"]],
    ["?filter[type]=", ["one", "two", "three", "four"]],
    ["?unknown=1&sort=name", ["one", "two", "three", "four"]],
  ])("%s", async (query, expected) => {
    expect(names(await list(query))).toEqual(expected);
  });

  test("refuse an unknown value by its name", async () => {
    const { status, fields } = await list("?filter[type]=hosted_redis,x&filter[region]=mars");
    expect(status).toBe(422);
    expect(fields).toEqual(["filter[type]", "filter[region]"]);
  });

  test.each([
    ["?filter[name]=one", "`filter[type]`"],
    ["?filter=one", "`filter[type]`"],
    ["?include=schemas", "`environments`"],
  ])("%s is 400 and names what is allowed", async (query, allowed) => {
    const { status, message } = await list(query);
    expect(status).toBe(400);
    expect(message).toContain(allowed);
  });

  test("accept environments, and include an empty list", async () => {
    expect((await list("?include=environments")).body.included).toEqual([]);
    expect((await list("")).body.included).toBeUndefined();
  });
});

describe("a single cache", () => {
  test("is read at the address in the answer to its creation", async () => {
    const created = await api.request("/api/caches", { json: validCache });
    const location = new URL(created.headers.get("location") ?? "");
    const { data, included } = (await created.json()) as { data: object; included: unknown[] };
    expect(included).toEqual([]);
    const read = await api.request(location.pathname);
    expect(read.headers.get("content-type")).toBe("application/vnd.api+json");
    expect(await read.json()).toEqual({ data });
  });

  test("is deleting after its deletion, however often that is repeated, and then gone", async () => {
    const created = await api.request("/api/caches", { json: validCache });
    const { id } = ((await created.json()) as { data: { id: string } }).data;
    const path = `/api/caches/${id}`;
    for (let times = 0; times < 2; times++) {
      const response = await api.request(path, { method: "DELETE" });
      expect(response.status).toBe(204);
      expect(await response.text()).toBe("");
    }
    expect(await (await api.request(path)).json()).toMatchObject({
      data: { attributes: { status: "deleting" } },
    });
    const audit = await api.db`select action from audit where resource_id = ${id} order by audit.id`;
    expect(audit.map(({ action }: { action: string }) => action)).toEqual(["create", "delete"]);
    await api.db.begin((tx) => eraseCache(tx, id));
    expect((await api.request(path)).status).toBe(404);
    expect((await api.request(path, { method: "DELETE" })).status).toBe(404);
  });

  test("shows its last error, and that it is overdue", async () => {
    const created = await api.request("/api/caches", { json: validCache });
    const { id } = ((await created.json()) as { data: { id: string } }).data;
    await api.db`update work set last_error = 'No memory.', deadline_at = now() - interval '1 s' where id = ${id}`;
    const { data } = (await (await api.request(`/api/caches/${id}`)).json()) as { data: { meta: object } };
    expect(data.meta).toMatchObject({ last_error: "No memory.", overdue: true, engine: null, limits: null });
  });
});

test("cache types are listed with their sizes", async () => {
  const response = await api.request("/api/caches/types");
  expect(response.headers.get("content-type")).toBe("application/json");
  const { data } = (await response.json()) as { data: { type: string; sizes: object[] }[] };
  expect(data.map(({ type, sizes }) => [type, sizes.length])).toEqual([
    ["hosted_redis", 8],
    ["platform_valkey", 10],
    ["provider_managed_redis", 45],
    ["provider_managed_valkey", 45],
  ]);
  expect(data[1]?.sizes[2]).toEqual({ value: "valkey-flex-2.5gb", label: "Flex 2.5 GB" });
});

const create = async (own: TestApi) => {
  const response = await own.request("/api/caches", { json: validCache });
  const body = (await response.json()) as {
    data: { id: string; attributes: { connection: { port: number } } };
  };
  return { status: response.status, id: body.data?.id, port: body.data?.attributes.connection.port };
};

/** A port with free neighbours, below the ports that the system gives to outgoing connections. */
function freePort(): number {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 9_000);
    if (freePorts([port - 1, port, port + 1], "127.0.0.1").length === 3) return port;
  }
}

describe("ports", () => {
  test("are allotted once each, without the ports of other programs, and again after they are freed", async () => {
    const foreign = Bun.listen({ hostname: "127.0.0.1", port: freePort(), socket: { data() {} } });
    const small = await startApi({ portRange: { first: foreign.port - 1, last: foreign.port + 1 } });
    small.host.driver.freePorts = async (ports) => freePorts(ports, "127.0.0.1");
    const made = [await create(small), await create(small)];
    expect(made.map(({ port }) => port).sort()).toEqual([foreign.port - 1, foreign.port + 1]);
    expect((await create(small)).status).toBe(503);
    const [first] = made;
    if (first?.id === undefined) throw new Error("a cache was made");
    await small.db.begin((tx) => eraseCache(tx, first.id as string));
    expect((await create(small)).port).toBe(first.port);
    foreign.stop(true);
    await small.stop();
  });

  test("are distinct for many concurrent creates", async () => {
    const made = await Promise.all(Array.from({ length: 40 }, () => create(api)));
    expect(new Set(made.map(({ port }) => port)).size).toBe(40);
  });
});
