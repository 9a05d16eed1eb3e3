// The latest events of the organization; the event stream adds to them.
import { useQuery } from "@tanstack/react-query";
import { client } from "../parts/client.ts";
import { EVENTS_KEY } from "../parts/live.ts";

export function useLatestEvents() {
  return useQuery({
    queryKey: EVENTS_KEY,
    queryFn: async () => (await client.events.list({ perPage: 100 })).data,
  });
}
