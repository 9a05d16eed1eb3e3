// Reads the usage of a month, page by page of its resources.
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import type { UsageFilter } from "../../../sdk/index.ts";
import { client } from "../../parts/client.ts";
import { presentMonth } from "./months.ts";
import type { UsageSearch } from "./search.ts";

/** The usage of the present grows by itself. */
const REFRESH_MS = 60_000;

/** The month and the filters of the address as the API takes them. */
export function filterOf({ month, kind, resource }: UsageSearch): UsageFilter & { month: string } {
  return {
    month: month ?? presentMonth(),
    ...(kind !== undefined && { kind: [kind] }),
    ...(resource !== undefined && { resource: [resource] }),
  };
}

export function useUsage(filter: UsageFilter & { month: string }) {
  return useInfiniteQuery({
    queryKey: ["usage", filter],
    queryFn: ({ pageParam }) => client.usage.list({ filter, page: pageParam }),
    initialPageParam: 1,
    getNextPageParam: ({ meta }) => (meta.current_page < meta.last_page ? meta.current_page + 1 : undefined),
    staleTime: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

/** The address of the month as a table in CSV. */
export function csvPath(filter: UsageFilter & { month: string }): string {
  const query = new URLSearchParams({ month: filter.month, format: "csv" });
  if (filter.kind !== undefined) query.set("filter[kind]", filter.kind.join(","));
  if (filter.resource !== undefined) query.set("filter[resource]", filter.resource.join(","));
  return `/api/usage?${query}`;
}
