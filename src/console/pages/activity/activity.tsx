// The activity of the organization: who changed what, from where and when.
import { useInfiniteQuery, useQueries, useQueryClient } from "@tanstack/react-query";
import { ScrollText } from "lucide-react";
import { useEffect, useRef } from "react";
import { PilviError } from "../../../sdk/index.ts";
import { kinds } from "../../kinds.ts";
import { Button } from "../../parts/button.tsx";
import { client } from "../../parts/client.ts";
import type { ConsoleResource } from "../../parts/kind.ts";
import { Empty, Failure, Loading, PageFrame } from "../../parts/layout.tsx";
import type { PageProps } from "../../parts/page.tsx";
import { listOptions, type ResourceList } from "../../parts/resources.ts";
import { useLatestEvents } from "../events-query.ts";
import { ActivityEntry, type KnownResource } from "./entry.tsx";
import { ActivityFilters } from "./filters.tsx";
import { activityFilterOf, type ActivitySearch } from "./search.ts";

const KEY = ["activity"] as const;
const PER_PAGE = 50;
/** Many events at once lead to one more reading. */
const PAUSE_MS = 1_000;

export default function ActivityPage({ search, setSearch }: PageProps<ActivitySearch>) {
  const filter = activityFilterOf(search);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: [...KEY, filter],
    queryFn: ({ pageParam }) =>
      client.activity.list({ filter, perPage: PER_PAGE, ...(pageParam !== null && { cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ meta }) => meta.next_cursor ?? undefined,
    staleTime: 0,
  });
  useNewsOfEvents();
  const resources = useKnownResources();
  const entries = data?.pages.flatMap((page) => page.data);
  if (error instanceof PilviError && error.status === 403) return <NotAllowed />;
  return (
    <PageFrame title="Activity">
      <ActivityFilters {...{ search, setSearch }} />
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!entries && !error && <Loading lines={8} />}
      {entries?.length === 0 && (
        <Empty
          icon={ScrollText}
          title="No activity"
          text="Nobody changed anything that fits the filters. Every request that changes something appears here."
        />
      )}
      <ol aria-label="Activity" className="m-0 list-none border-t border-line p-0">
        {entries?.map((activity) => (
          <ActivityEntry
            key={activity.id}
            activity={activity}
            resource={resources.get(activity.attributes.resource_id)}
            onOnlyThis={() => setSearch({ resource: activity.attributes.resource_id })}
          />
        ))}
      </ol>
      {hasNextPage && (
        <div className="mt-4">
          <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show earlier activity
          </Button>
        </div>
      )}
    </PageFrame>
  );
}

function NotAllowed() {
  return (
    <PageFrame title="Activity">
      <Empty
        icon={ScrollText}
        title="Your role does not show activity"
        text="Owners and admins see who changed what, from where and when."
      />
    </PageFrame>
  );
}

/** Most activity leads to events, which the page follows anyway. */
function useNewsOfEvents(): void {
  const cache = useQueryClient();
  const newest = useLatestEvents().data?.[0]?.id;
  const known = useRef(newest);
  useEffect(() => {
    const isFirst = known.current === undefined;
    known.current = newest;
    if (isFirst) return;
    const timer = setTimeout(() => void cache.invalidateQueries({ queryKey: KEY }), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [cache, newest]);
}

/** The resources that have pages, by their ids. */
function useKnownResources(): Map<string, KnownResource> {
  return useQueries({ queries: kinds.map((kind) => listOptions(kind)), combine: knownAmong });
}

/** @param lists the answers in the order of the kinds. */
function knownAmong(
  lists: { data: ResourceList<ConsoleResource> | undefined }[],
): Map<string, KnownResource> {
  const known = kinds.flatMap(({ path }, index) =>
    (lists[index]?.data?.items ?? []).map(
      ({ id, attributes }) => [id, { name: attributes.name, path: `${path}/${id}` }] as const,
    ),
  );
  return new Map(known);
}
