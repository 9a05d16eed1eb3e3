// The list of a cache's keys, page by page.
import { useInfiniteQuery } from "@tanstack/react-query";
import { Button } from "../../../console/parts/button.tsx";
import { client } from "../../../console/parts/client.ts";
import { Empty, Failure, Loading } from "../../../console/parts/layout.tsx";
import type { CacheKey, CacheKeyFilter } from "../../../sdk/index.ts";
import { type KeyName, KeyRows } from "./keys-rows.tsx";

interface KeyListProps {
  id: string;
  isWaking: boolean;
  match: string | undefined;
  type: CacheKeyFilter["type"] | undefined;
  selected: KeyName | null;
  onSelect(key: KeyName): void;
}

const COUNT = 100;
/** A rare key may lie behind many keys that do not fit; the search goes on for so many pages by itself. */
const MAX_EMPTY_PAGES = 20;

/** The key under which the lists of a cache's keys are kept. */
export function keysKey(id: string) {
  return ["caches", "keys", id] as const;
}

export function KeyList({ id, isWaking, match, type, selected, onSelect }: KeyListProps) {
  const filter = { ...(match !== undefined && { match }), ...(type !== undefined && { type }) };
  const list = useInfiniteQuery({
    queryKey: [...keysKey(id), filter],
    queryFn: ({ pageParam, signal }) =>
      searchOn(id, { ...filter, wake: isWaking, count: COUNT, signal }, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ meta }) => meta.cursor ?? undefined,
  });
  const { data, error, isPending, hasNextPage, isFetchingNextPage } = list;
  if (isPending) return <Loading lines={8} />;
  if (error) return <Failure error={error} retry={() => void list.refetch()} />;
  const keys = distinct(data.pages.flatMap((page) => page.data));
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <section aria-label="Keys">
      <p role="status" className="mt-0 mb-1 text-xs text-soft">
        {keys.length} {keys.length === 1 ? "key" : "keys"}
        {hasNextPage ? " so far" : ""}
      </p>
      {keys.length === 0 && !hasNextPage && (
        <Empty
          title={isFiltered ? "No key is like that" : "No keys yet"}
          text={isFiltered ? "Try another pattern or type." : "Keys appear here when a client has set them."}
        />
      )}
      {keys.length > 0 && <KeyRows {...{ keys, selected, onSelect }} />}
      {hasNextPage && (
        <div className="mt-3">
          <Button isBusy={isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {keys.length === 0 ? "Search on" : "More keys"}
          </Button>
        </div>
      )}
    </section>
  );
}

type ListOptions = Parameters<ReturnType<typeof client.caches.keys>["list"]>[0];

async function searchOn(id: string, options: ListOptions, start: string | undefined) {
  const keys = client.caches.keys(id);
  let page = await keys.list({ ...options, ...(start !== undefined && { cursor: start }) });
  for (let pages = 1; pages < MAX_EMPTY_PAGES; pages++) {
    const { cursor } = page.meta;
    if (page.data.length > 0 || cursor === null) break;
    page = await keys.list({ ...options, cursor });
  }
  return page;
}

/** The engine may name a key twice. */
function distinct(keys: CacheKey[]): CacheKey[] {
  return [...new Map(keys.map((key) => [`${key.key.encoding} ${key.key.text}`, key])).values()];
}
