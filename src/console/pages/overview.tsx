// The first page: every kind with its newest resources, and what happened last.
import { Link } from "@tanstack/react-router";
import { ButtonLink } from "../parts/button.tsx";
import { EventLines } from "../parts/events-table.tsx";
import { Failure, Loading, PageFrame, Section } from "../parts/layout.tsx";
import type { ConsoleKind } from "../parts/kind.ts";
import { useResources } from "../parts/resources.ts";
import { useCan } from "../parts/session.ts";
import { Status } from "../parts/status.tsx";
import { kinds } from "../kinds.ts";
import { useLatestEvents } from "./events-query.ts";
import { pathOfEvent } from "./resource-paths.ts";

const MAX_RESOURCES = 5;
const MAX_EVENTS = 8;

export default function OverviewPage() {
  return (
    <PageFrame title="Overview">
      {kinds.map((kind) => (
        <KindSection key={kind.name} kind={kind} />
      ))}
      <LatestEvents />
    </PageFrame>
  );
}

function KindSection({ kind }: { kind: ConsoleKind }) {
  const { data, error, refetch } = useResources(kind);
  const { icon: Icon, noun, path, plural } = kind;
  const canWrite = useCan(`${kind.name}:write`);
  return (
    <Section
      title={data === undefined ? plural : `${plural} · ${data.total}`}
      actions={canWrite && <ButtonLink to={`${path}/new`}>Create {noun}</ButtonLink>}
    >
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading lines={2} />}
      {data?.total === 0 && (
        <p className="m-0 flex items-center gap-2 py-2 text-soft">
          <Icon size={15} aria-hidden />
          You have no {noun}s yet.
        </p>
      )}
      <ul className="m-0 list-none p-0">
        {data?.items
          .slice(-MAX_RESOURCES)
          .toReversed()
          .map((resource) => (
            <li key={resource.id} className="border-b border-line last:border-b-0">
              <Link
                to={`${path}/${resource.id}`}
                className="flex flex-wrap items-baseline gap-x-4 gap-y-0.5 py-2 text-ink no-underline hover:bg-hover"
              >
                <span className="min-w-40 basis-full font-medium sm:basis-auto">
                  {resource.attributes.name}
                </span>
                <span className="min-w-0 grow basis-0 text-sm text-soft">{kind.summaryOf(resource)}</span>
                <Status status={resource.attributes.status} sleep={resource.meta?.sleep} />
              </Link>
            </li>
          ))}
      </ul>
      {data && data.total > MAX_RESOURCES && (
        <Link to={path} className="link mt-2 inline-block text-sm">
          All {data.total} {plural.toLowerCase()}
        </Link>
      )}
    </Section>
  );
}

function LatestEvents() {
  const { data, error, refetch } = useLatestEvents();
  if (data?.length === 0 && !error) return null;
  return (
    <Section title="Latest events">
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && <EventLines events={data.slice(0, MAX_EVENTS)} pathOf={pathOfEvent} />}
    </Section>
  );
}
