// The resources of a kind as the console keeps them: one list of all, and each resource by its id.
import { type QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import { PilviError } from "../../sdk/index.ts";
import type { KindIdentity, ConsoleResource } from "./kind.ts";
import { nextRequest, noteAnswer, noteListed, withLaterAnswers } from "./latest-answers.ts";

/** All resources of a kind; `total` is more than there are items while pages are still being read. */
export interface ResourceList<Resource> {
  items: Resource[];
  total: number;
}

function listKey(kind: { name: string }) {
  return [kind.name, "list"] as const;
}

function itemKey(kind: { name: string }, id: string) {
  return [kind.name, "item", id] as const;
}

/** How all resources of a kind are read; the first page is there before the others are read. */
export function listOptions<Resource extends ConsoleResource>(kind: KindIdentity<Resource>) {
  return queryOptions<ResourceList<Resource>>({
    queryKey: listKey(kind),
    queryFn: async ({ client: cache, signal }) => {
      const isFirst = cache.getQueryData(listKey(kind)) === undefined;
      const begunAt = nextRequest();
      let sentAt = begunAt;
      const items: Resource[] = [];
      for await (const page of kind.collection.pages()) {
        signal.throwIfAborted();
        items.push(...noteListed(cache, kind, page.data, sentAt));
        if (isFirst) cache.setQueryData(listKey(kind), { items: [...items], total: page.meta.total });
        sentAt = nextRequest();
      }
      const present = withLaterAnswers(cache, kind, items, begunAt);
      return { items: present, total: present.length };
    },
  });
}

/** Reads all resources of a kind. */
export function useResources<Resource extends ConsoleResource>(kind: KindIdentity<Resource>) {
  return useQuery(listOptions(kind));
}

/** How one resource is read. */
export function resourceOptions<Resource extends ConsoleResource>(kind: KindIdentity<Resource>, id: string) {
  return queryOptions<Resource>({
    queryKey: itemKey(kind, id),
    queryFn: async ({ client: cache, signal }) => {
      const sentAt = nextRequest();
      const { data } = await kind.collection.get(id, { signal });
      const latest = noteAnswer(cache, kind, id, { sentAt, resource: data });
      if (latest === null) throw new PilviError("It has been deleted.", 404);
      return latest;
    },
  });
}

/**
 * Reads one resource, kept up to date by events.
 * @param everyMs also read anew so often while the page is seen, for members whose changes are no events.
 */
export function useResource<Resource extends ConsoleResource>(
  kind: KindIdentity<Resource>,
  id: string,
  everyMs: number | false = false,
) {
  return useQuery({ ...resourceOptions(kind, id), refetchInterval: everyMs });
}

/** Reads a resource anew, into its page and into the list; a resource that is gone leaves both. */
export async function refreshResource(cache: QueryClient, kind: KindIdentity, id: string): Promise<void> {
  const sentAt = nextRequest();
  try {
    const { data } = await kind.collection.get(id);
    if (noteAnswer(cache, kind, id, { sentAt, resource: data }) === data) show(cache, kind, data);
  } catch (error) {
    if (!(error instanceof PilviError) || error.status !== 404) throw error;
    if (noteAnswer(cache, kind, id, { sentAt, resource: null }) !== null) return;
    changeList(cache, kind, (items) => items.filter((item) => item.id !== id));
    await cache.invalidateQueries({ queryKey: itemKey(kind, id) });
  }
}

/**
 * Puts a resource that the answer to a change carried into the page and the list, and then reads it anew: it may have
 * changed again before the answer came.
 */
export function keepResource<Resource extends ConsoleResource>(
  cache: QueryClient,
  kind: KindIdentity<Resource>,
  resource: Resource,
): void {
  noteAnswer(cache, kind, resource.id, { sentAt: nextRequest(), resource });
  show(cache, kind, resource);
  void refreshResource(cache, kind, resource.id).catch(() => undefined);
}

function show<Resource extends ConsoleResource>(
  cache: QueryClient,
  kind: KindIdentity<Resource>,
  resource: Resource,
): void {
  cache.setQueryData(itemKey(kind, resource.id), resource);
  changeList<Resource>(cache, kind, (items) => {
    const isKnown = items.some(({ id }) => id === resource.id);
    return isKnown ? items.map((item) => (item.id === resource.id ? resource : item)) : [...items, resource];
  });
}

function changeList<Resource extends ConsoleResource>(
  cache: QueryClient,
  kind: { name: string },
  change: (items: Resource[]) => Resource[],
): void {
  cache.setQueryData<ResourceList<Resource>>(listKey(kind), (old) => {
    if (old === undefined) return old;
    const items = change(old.items);
    return { items, total: old.total + items.length - old.items.length };
  });
}
