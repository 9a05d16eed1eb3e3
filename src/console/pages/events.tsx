// The events of the organization: what happened to its resources, the newest first.
import { Activity } from "lucide-react";
import { EventLines } from "../parts/events-table.tsx";
import { Empty, Failure, Loading, PageFrame } from "../parts/layout.tsx";
import { useLatestEvents } from "./events-query.ts";
import { pathOfEvent } from "./resource-paths.ts";

export default function EventsPage() {
  const { data, error, refetch } = useLatestEvents();
  return (
    <PageFrame title="Events">
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading lines={8} />}
      {data?.length === 0 && (
        <Empty
          icon={Activity}
          title="Nothing has happened yet"
          text="What happens to your resources appears here."
        />
      )}
      {data && <EventLines events={data} pathOf={pathOfEvent} />}
    </PageFrame>
  );
}
