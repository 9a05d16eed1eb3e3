// What the console shows of a resource when requests are answered in another order than they were sent.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { QueryClient } from "@tanstack/react-query";
import { PilviError } from "../../sdk/index.ts";
import type { ConsoleResource, KindIdentity } from "./kind.ts";
import { keepResource, listOptions, refreshResource, resourceOptions } from "./resources.ts";

/** A request that waits for its answer. */
interface OpenRequest {
  answer(resource: ConsoleResource): void;
  refuse(error: Error): void;
}

let cache: QueryClient;
let gets: OpenRequest[];
let lists: PromiseWithResolvers<ConsoleResource[]>[];

beforeEach(() => {
  cache = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  gets = [];
  lists = [];
});
afterEach(() => cache.clear());

const kind = {
  name: "caches",
  collection: {
    get: async () => {
      const { promise, resolve, reject } = Promise.withResolvers<{ data: ConsoleResource }>();
      gets.push({ answer: (data) => resolve({ data }), refuse: reject });
      return await promise;
    },
    async *pages() {
      const list = Promise.withResolvers<ConsoleResource[]>();
      lists.push(list);
      const data = await list.promise;
      yield { data, meta: { total: data.length } };
    },
  },
} as unknown as KindIdentity;

function cacheThatIs(status: string, id = "a"): ConsoleResource {
  const attributes = { name: id, status, region: "r", type: "t", created_at: null };
  return { id, type: "caches", attributes };
}

const shown = () => cache.getQueryData(resourceOptions(kind, "a").queryKey)?.attributes.status;
const listed = () =>
  cache.getQueryData(listOptions(kind).queryKey)?.items.map(({ id, attributes }) => [id, attributes.status]);

async function untilShown(status: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = cache.getQueryCache().subscribe(() => {
    if (shown() === status) resolve();
  });
  if (shown() !== status) await promise;
  end();
}

test("an answer that comes late does not replace that of a later request", async () => {
  const reads = [refreshResource(cache, kind, "a"), refreshResource(cache, kind, "a")];
  gets[1]?.answer(cacheThatIs("available"));
  await reads[1];
  gets[0]?.answer(cacheThatIs("asleep"));
  await reads[0];
  expect(shown()).toBe("available");
});

test("nor does the answer to the page's own request", async () => {
  const page = cache.fetchQuery(resourceOptions(kind, "a"));
  const read = refreshResource(cache, kind, "a");
  gets[1]?.answer(cacheThatIs("available"));
  await read;
  gets[0]?.answer(cacheThatIs("asleep"));
  await page;
  expect(shown()).toBe("available");
});

test("a list has what was changed, made and deleted while it was read", async () => {
  const list = cache.fetchQuery(listOptions(kind));
  const reads = ["a", "new", "gone"].map(async (id) => await refreshResource(cache, kind, id));
  gets[0]?.answer(cacheThatIs("available"));
  gets[1]?.answer(cacheThatIs("creating", "new"));
  gets[2]?.refuse(new PilviError("There is none.", 404));
  await Promise.all(reads);
  lists[0]?.resolve([cacheThatIs("asleep"), cacheThatIs("asleep", "gone"), cacheThatIs("asleep", "other")]);
  await list;
  expect(listed()).toEqual([
    ["a", "available"],
    ["other", "asleep"],
    ["new", "creating"],
  ]);
});

test("nor does an answer that comes late replace that of a later list", async () => {
  const read = refreshResource(cache, kind, "a");
  const list = cache.fetchQuery(listOptions(kind));
  lists[0]?.resolve([cacheThatIs("available")]);
  await list;
  gets[0]?.answer(cacheThatIs("asleep"));
  await read;
  expect(listed()).toEqual([["a", "available"]]);
});

test("a page whose resource is deleted while it is read does not show the resource", async () => {
  const page = cache.fetchQuery(resourceOptions(kind, "a")).catch((error: unknown) => error);
  const read = refreshResource(cache, kind, "a");
  gets[1]?.refuse(new PilviError("There is none.", 404));
  await read;
  gets[0]?.answer(cacheThatIs("available"));
  expect(await page).toMatchObject({ status: 404 });
  expect(shown()).toBeUndefined();
});

test("the answer to a change is shown at once, and then what became of the resource meanwhile", async () => {
  const before = refreshResource(cache, kind, "a");
  keepResource(cache, kind, cacheThatIs("asleep"));
  expect(shown()).toBe("asleep");
  gets[0]?.answer(cacheThatIs("available"));
  await before;
  expect(shown()).toBe("asleep");
  gets[1]?.answer(cacheThatIs("available"));
  await untilShown("available");
});
