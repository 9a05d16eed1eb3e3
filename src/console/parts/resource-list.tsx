// The list of a kind: search and filters that live in the address, and rows that are made only while they are seen.
import { Link } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { ButtonLink } from "./button.tsx";
import type { ConsoleResource, KindIdentity } from "./kind.ts";
import { Empty, Failure, Loading, PageFrame } from "./layout.tsx";
import { countText, ListCount, ListFilters, NothingFits } from "./list-filters.tsx";
import type { ListSearch } from "./list-search.ts";
import type { PageProps } from "./page.tsx";
import { useResources } from "./resources.ts";
import { useCan } from "./session.ts";
import { Status } from "./status.tsx";
import { Ago } from "./time.tsx";

interface ListProps<Resource extends ConsoleResource> extends Pick<
  PageProps<ListSearch>,
  "search" | "setSearch"
> {
  kind: KindIdentity<Resource>;
  /** What the kind is for, where there is nothing of it yet. */
  invitation: string;
  /** Stands below the invitation, such as a command that begins. */
  beginning?: ReactNode;
  /** What a line says between the name and the end of the row, in the place of the summary and the state. */
  line?: (resource: Resource) => ReactNode;
  /** What stands below the list. */
  children?: ReactNode;
}

export function ResourceListPage<Resource extends ConsoleResource>(props: ListProps<Resource>) {
  const { kind, invitation, beginning, line, search, setSearch, children } = props;
  const { data, error, refetch } = useResources(kind);
  const items = data?.items ?? [];
  const shown = items.filter((resource) => fits(resource, search)).toReversed();
  const { icon, noun, path, plural } = kind;
  const canWrite = useCan(`${kind.name}:write`);
  const create = canWrite && (
    <ButtonLink to={`${path}/new`} look="primary">
      Create {noun}
    </ButtonLink>
  );
  return (
    <PageFrame title={plural} actions={data && data.total > 0 && create}>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading lines={6} />}
      {data?.total === 0 && (
        <>
          <Empty icon={icon} title={`No ${noun}s yet`} text={invitation} action={create} />
          {beginning}
        </>
      )}
      {data && data.total > 0 && (
        <>
          <ListFilters
            label="Search by name or id"
            {...{ search, setSearch }}
            filters={FILTERS.map((name) => ({
              name,
              values: items.map(({ attributes }) => attributes[name]),
              chosen: search[name],
            }))}
          />
          <ListCount text={countText(shown.length, data.total, items.length)} />
          <Rows kind={kind} resources={shown} line={line} />
        </>
      )}
      {data && children}
    </PageFrame>
  );
}

function fits({ attributes, id }: ConsoleResource, { q, status, type, region }: ListSearch): boolean {
  const text = q?.toLowerCase();
  return (
    (text === undefined || attributes.name.toLowerCase().includes(text) || id === text) &&
    (status === undefined || attributes.status === status) &&
    (type === undefined || attributes.type === type) &&
    (region === undefined || attributes.region === region)
  );
}

const FILTERS = ["status", "type", "region"] as const;

const ROW_PX = 44;
const OVERSCAN = 12;

interface RowsProps<Resource extends ConsoleResource> {
  kind: KindIdentity<Resource>;
  resources: Resource[];
  line: ((resource: Resource) => ReactNode) | undefined;
}

function Rows<Resource extends ConsoleResource>({ kind, resources, line }: RowsProps<Resource>) {
  const list = useRef<HTMLUListElement>(null);
  const [offset, setOffset] = useState(0);
  useEffect(() => setOffset(list.current?.offsetTop ?? 0), []);
  const rows = useWindowVirtualizer({
    count: resources.length,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    scrollMargin: offset,
  });
  if (resources.length === 0) return <NothingFits />;
  return (
    <ul
      ref={list}
      aria-label={kind.plural}
      className="relative m-0 list-none border-t border-line p-0"
      style={{ height: rows.getTotalSize() }}
    >
      {rows.getVirtualItems().map(({ index, start }) => {
        const resource = resources[index];
        return (
          resource && (
            <li
              key={resource.id}
              aria-setsize={resources.length}
              aria-posinset={index + 1}
              className="absolute inset-x-0 top-0 border-b border-line"
              style={{ height: ROW_PX, transform: `translateY(${start - offset}px)` }}
            >
              <Row kind={kind} resource={resource} line={line} />
            </li>
          )
        );
      })}
    </ul>
  );
}

function Row<Resource extends ConsoleResource>(
  props: Omit<RowsProps<Resource>, "resources"> & { resource: Resource },
) {
  const { kind, resource, line } = props;
  const { name, status, created_at: createdAt } = resource.attributes;
  if (line !== undefined)
    return (
      <Link
        to={`${kind.path}/${resource.id}`}
        className="flex h-full items-center gap-4 px-1 text-ink no-underline hover:bg-hover"
      >
        <span className="w-40 shrink-0 truncate font-medium sm:w-56">{name}</span>
        {line(resource)}
      </Link>
    );
  return (
    <Link
      to={`${kind.path}/${resource.id}`}
      className="grid h-full grid-cols-[minmax(0,1fr)_6.5rem] items-center gap-4 px-1 text-ink no-underline hover:bg-hover sm:grid-cols-[minmax(0,1.2fr)_minmax(0,2fr)_7rem_7rem]"
    >
      <span className="truncate font-medium">{name}</span>
      <span className="hidden truncate text-sm text-soft sm:block">{kind.summaryOf(resource)}</span>
      <Status status={status} sleep={resource.meta?.sleep} />
      <span className="hidden text-right text-sm text-soft sm:block">
        {createdAt && <Ago at={createdAt} />}
      </span>
    </Link>
  );
}
